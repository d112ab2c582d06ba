#include "cli/commands/spark_command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cli_spark_command, .timeout = 10);

static char *words[64];
static struct spark_command command;

static bool begin(const char *line)
{
    static char text[1024];
    size_t n = 0;
    (void)snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        words[n++] = word;
    return spark_command_read(words, n, &command);
}

Test(cli_spark_command, the_program_is_found_behind_wrappers)
{
    cr_assert(begin("nice -n 5 /opt/spark/bin/spark-submit --class Main job.jar --conf x"));
    cr_assert_eq(command.program, 3);
    cr_assert_str_eq(words[command.end], "job.jar");
    cr_assert_not(begin("java -jar job.jar"));
    cr_assert(begin("spark-submit"));
    cr_assert_eq(command.end, 1);
}

Test(cli_spark_command, properties_are_read_up_to_the_jar)
{
    cr_assert(begin("spark-submit --conf a=1 --conf=b=2=x -c c=3 --executor-cores 4 --verbose "
                    "--num-executors=5 job.jar --conf d=6"));
    cr_assert(spark_command_sets(&command, "a"));
    cr_assert(spark_command_sets(&command, "b"));
    cr_assert(spark_command_sets(&command, "c"));
    cr_assert(spark_command_sets(&command, "spark.executor.cores"));
    cr_assert(spark_command_sets(&command, "spark.executor.instances"));
    cr_assert_not(spark_command_sets(&command, "d"));
    cr_assert_not(spark_command_sets(&command, "spark.executor"));
    size_t at = 0;
    struct spark_setting setting;
    cr_assert(spark_command_next(&command, &at, &setting));
    cr_assert(spark_command_next(&command, &at, &setting));
    cr_assert_str_eq(setting.value, "2=x");
}

Test(cli_spark_command, an_option_without_its_value_is_no_property)
{
    cr_assert(begin("spark-submit --conf"));
    size_t at = 0;
    struct spark_setting setting;
    cr_assert_not(spark_command_next(&command, &at, &setting));
    cr_assert(begin("spark-submit --conf nothing job.jar"));
    at = 0;
    cr_assert_not(spark_command_next(&command, &at, &setting));
}

Test(cli_spark_command, the_last_name_counts)
{
    cr_assert(begin("spark-submit --name a --conf spark.app.name=b job.jar"));
    cr_assert_str_eq(spark_command_name(&command), "b");
    cr_assert(begin("spark-submit job.jar --name c"));
    cr_assert_null(spark_command_name(&command));
}

Test(cli_spark_command, properties_are_put_behind_the_program)
{
    char first[] = "x=1";
    char *const properties[] = {first};
    cr_assert(begin("nice spark-submit --conf a=1 job.jar"));
    char **with = spark_command_with(&command, properties, 1);
    static const char *const wanted[] = {"nice",   "spark-submit", "--conf", "x=1",
                                         "--conf", "a=1",          "job.jar"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_assert_str_eq(with[i], wanted[i]);
    cr_assert_null(with[7]);
    free(with);
}
