#include "core/joblog/spark/session_signs.h"

#include <string.h>

/* Longest text that is checked; of a longer command line the beginning is. */
enum { TEXT_MAX = 4096 };

/* Names that these programs give themselves, whole. */
static const char *const names[] = {
    "Spark shell",          "PySparkShell", "Zeppelin",
    "Databricks Shell",     "Apache Toree", "Thrift JDBC/ODBC Server",
    "Spark Connect server",
};

/* Beginnings of names, before a number or a user. */
static const char *const name_starts[] = {"livy-session-", "remotesparkmagics", "kyuubi_",
                                          "Hive on Spark"};

/* Main classes of shells and servers. */
static const char *const classes[] = {
    "org.apache.spark.repl.Main",
    "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2",
    "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver",
    "org.apache.spark.sql.connect.service.SparkConnectServer",
    "org.apache.zeppelin.interpreter.remote.RemoteInterpreterServer",
    "org.apache.toree.Main",
    "org.apache.kyuubi.engine.spark.SparkSQLEngine",
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void decode(struct json_text text, char out[TEXT_MAX])
{
    bool cut;
    out[json_text_decode(text, out, TEXT_MAX - 1, &cut)] = '\0';
}

void session_signs_take_name(struct session_signs *signs, struct json_text name)
{
    char text[TEXT_MAX];
    decode(name, text);
    for (size_t i = 0; i < COUNT(names); i++)
        signs->named |= strcmp(text, names[i]) == 0;
    for (size_t i = 0; i < COUNT(name_starts); i++)
        signs->named |= strncmp(text, name_starts[i], strlen(name_starts[i])) == 0;
}

/* Is `word` one of the words of the text? */
static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + n, word))
        if ((at == text || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
            return true;
    return false;
}

void session_signs_take_command(struct session_signs *signs, struct json_text command)
{
    char text[TEXT_MAX];
    decode(command, text);
    for (size_t i = 0; i < COUNT(classes); i++)
        signs->submitted |= has_word(text, classes[i]);
    signs->runs_script |=
        has_word(text, "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver") &&
        (has_word(text, "-f") || has_word(text, "-e"));
}

/* Databricks: clusters that are made for a job are called job-N-run-M. */
static bool is_job_cluster(const char *key, const char *value)
{
    static const char start[] = "job-";
    if (strcmp(key, "spark.databricks.clusterUsageTags.clusterName") == 0)
        return strncmp(value, start, sizeof start - 1) == 0 && strstr(value, "-run-") != NULL;
    return strcmp(key, "spark.databricks.clusterSource") == 0 && strcmp(value, "JOB") == 0;
}

void session_signs_take_property(struct session_signs *signs,
                                 struct json_text key,
                                 struct json_text value)
{
    static const char *const interpreters[] = {"spark.repl.class.uri",
                                               "spark.repl.class.outputDir"};
    static const char *const clusters[] = {"spark.databricks.clusterUsageTags.clusterName",
                                           "spark.databricks.clusterSource"};
    char text[TEXT_MAX];
    if (json_text_is(key, strview_of("spark.app.name")))
        session_signs_take_name(signs, value);
    for (size_t i = 0; i < COUNT(interpreters); i++)
        signs->interpreter |= json_text_is(key, strview_of(interpreters[i]));
    for (size_t i = 0; i < COUNT(clusters); i++)
        if (json_text_is(key, strview_of(clusters[i]))) {
            decode(value, text);
            signs->job_cluster |= is_job_cluster(clusters[i], text);
        }
}

bool session_signs_is_interactive(const struct session_signs *signs)
{
    if (signs->job_cluster || signs->runs_script)
        return false;
    return signs->named || signs->submitted || signs->interpreter;
}
