#ifndef CORE_JOBLOG_SPARK_SESSION_SIGNS_H
#define CORE_JOBLOG_SPARK_SESSION_SIGNS_H

#include <stdbool.h>

#include "core/joblog/common/json.h"

/*
 * Signs that a person works with the application while it runs: a shell, a notebook, or a server that
 * answers statements. Only certain signs count, because the driver of a batch job also works
 * between its jobs:
 *
 * - the name that a shell or server gives itself ("Spark shell", "PySparkShell", "Zeppelin", ...)
 * - the class that was submitted, in the command line of the JVM
 * - a class server of the Scala interpreter (spark.repl.class.uri, spark.repl.class.outputDir)
 *
 * On Databricks, where jobs run in such an interpreter, too, the cluster of a job is not a session.
 * spark-sql with a script (-f, -e) is not one either. Names that scripts share with shells
 * ("pyspark-shell", "SparkR", "SparkSQL::host") are not signs.
 */
struct session_signs {
    bool named;       /* by its name */
    bool submitted;   /* by the class */
    bool interpreter; /* by the class server */
    bool runs_script; /* spark-sql with a script */
    bool job_cluster; /* of Databricks */
};

/* Take a Spark property; the keys that matter here are not kept otherwise. */
void session_signs_take_property(struct session_signs *signs,
                                 struct json_text key,
                                 struct json_text value);

/* The name of the application. */
void session_signs_take_name(struct session_signs *signs, struct json_text name);

/* The command line of the driver's JVM, system property sun.java.command. */
void session_signs_take_command(struct session_signs *signs, struct json_text command);

bool session_signs_is_interactive(const struct session_signs *signs);

#endif
