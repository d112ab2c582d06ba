#include "cli/commands/spark_command.h"

#include <stdlib.h>
#include <string.h>

/* Options of spark-submit that set a property; where there is none the option only takes a value. */
static const struct {
    const char *option;
    const char *key;
} with_value[] = {
    {"--name", "spark.app.name"},
    {"--num-executors", "spark.executor.instances"},
    {"--executor-cores", "spark.executor.cores"},
    {"--executor-memory", "spark.executor.memory"},
    {"--total-executor-cores", "spark.cores.max"},
    {"--driver-memory", "spark.driver.memory"},
    {"--driver-cores", "spark.driver.cores"},
    {"--master", "spark.master"},
    {"--deploy-mode", "spark.submit.deployMode"},
    {"--queue", "spark.yarn.queue"},
    {"--class", NULL},
    {"--conf", NULL},
    {"-c", NULL},
    {"--jars", NULL},
    {"--packages", NULL},
    {"--exclude-packages", NULL},
    {"--repositories", NULL},
    {"--py-files", NULL},
    {"--files", NULL},
    {"--archives", NULL},
    {"--properties-file", NULL},
    {"--driver-java-options", NULL},
    {"--driver-library-path", NULL},
    {"--driver-class-path", NULL},
    {"--proxy-user", NULL},
    {"--principal", NULL},
    {"--keytab", NULL},
    {"--remote", NULL},
    {"--status", NULL},
    {"--kill", NULL},
};

static bool submits(const char *word)
{
    static const char *const programs[] = {"spark-submit",     "spark2-submit", "spark3-submit",
                                           "spark-sql",        "spark-shell",   "pyspark",
                                           "dse-spark-submit", "run-example",   "spark-submit.sh"};
    const char *slash = strrchr(word, '/');
    const char *base = slash == NULL ? word : slash + 1;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(base, programs[i]) == 0)
            return true;
    return false;
}

/* The row of the word's option, and where its value is: behind '=' (*value), or the next word (NULL). */
static bool find_option(const char *word, size_t *row, const char **value)
{
    size_t n = strcspn(word, "=");
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++)
        if (strlen(with_value[i].option) == n && strncmp(word, with_value[i].option, n) == 0) {
            *row = i;
            *value = word[n] == '=' ? word + n + 1 : NULL;
            return true;
        }
    return false;
}

static size_t find_end(const struct spark_command *command)
{
    size_t row;
    const char *value;
    size_t at = command->program + 1;
    while (at < command->n && command->words[at][0] == '-') {
        bool known = find_option(command->words[at], &row, &value);
        at += known && value == NULL ? 2 : 1;
    }
    return at < command->n ? at : command->n;
}

/* Is the word, with or without a path, named like spark-submit? `pyspark` may be a user of sudo's. */
static bool is_spark_submit(const char *word)
{
    const char *at = strstr(word, "-submit");
    return submits(word) && at != NULL;
}

bool spark_command_read(char *const words[], size_t n, struct spark_command *command)
{
    *command = (struct spark_command){.words = words, .n = n, .program = n, .end = n};
    for (size_t i = n; i-- > 0;)
        if (submits(words[i]))
            command->program = i;
    for (size_t i = n; i-- > 0;)
        if (is_spark_submit(words[i]))
            command->program = i;
    if (command->program == n)
        return false;
    command->end = find_end(command);
    return true;
}

/* "key=value" of --conf. */
static bool read_pair(const char *text, struct spark_setting *setting)
{
    size_t n = strcspn(text, "=");
    *setting = (struct spark_setting){text, n, text + n + 1};
    return n > 0 && text[n] == '=';
}

bool spark_command_next(const struct spark_command *command,
                        size_t *at,
                        struct spark_setting *setting)
{
    if (*at <= command->program)
        *at = command->program + 1;
    while (*at < command->end) {
        size_t row;
        const char *value;
        if (!find_option(command->words[(*at)++], &row, &value))
            continue;
        if (value == NULL) {
            if (*at >= command->end)
                return false;
            value = command->words[(*at)++];
        }
        const char *option = with_value[row].option;
        if (with_value[row].key != NULL) {
            *setting =
                (struct spark_setting){with_value[row].key, strlen(with_value[row].key), value};
            return true;
        }
        if ((strcmp(option, "--conf") == 0 || strcmp(option, "-c") == 0) &&
            read_pair(value, setting))
            return true;
    }
    return false;
}

static bool is_key(const struct spark_setting *setting, const char *key)
{
    return strlen(key) == setting->key_n && strncmp(key, setting->key, setting->key_n) == 0;
}

bool spark_command_sets(const struct spark_command *command, const char *key)
{
    size_t at = 0;
    for (struct spark_setting setting; spark_command_next(command, &at, &setting);)
        if (is_key(&setting, key))
            return true;
    return false;
}

const char *spark_command_name(const struct spark_command *command)
{
    const char *name = NULL;
    size_t at = 0;
    for (struct spark_setting setting; spark_command_next(command, &at, &setting);)
        if (is_key(&setting, "spark.app.name"))
            name = setting.value;
    return name;
}

char **spark_command_with(const struct spark_command *command, char *const properties[], size_t n)
{
    static char conf[] = "--conf";
    char **words = calloc(command->n + 2 * n + 1, sizeof *words);
    if (words == NULL)
        return NULL;
    size_t to = 0;
    for (size_t i = 0; i <= command->program; i++)
        words[to++] = command->words[i];
    for (size_t i = 0; i < n; i++) {
        words[to++] = conf;
        words[to++] = properties[i];
    }
    for (size_t i = command->program + 1; i < command->n; i++)
        words[to++] = command->words[i];
    return words;
}
