#ifndef CLI_COMMANDS_SPARK_COMMAND_H
#define CLI_COMMANDS_SPARK_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A command line that submits a Spark application: which properties its caller sets, and the same with
 * further ones. Words are borrowed.
 */
struct spark_command {
    char *const *words;
    size_t n;
    size_t
        program; /* the word that is spark-submit, spark-sql, ...; behind wrappers such as nice or env */
    size_t end; /* the first word that is no option of it: the jar; n without one */
};

/* false: no word is the name of a program that submits. */
bool spark_command_read(char *const words[], size_t n, struct spark_command *command);

/* A property as the command line sets it: by --conf, or by an option of its own such as
 * --num-executors. */
struct spark_setting {
    const char *key; /* key_n bytes */
    size_t key_n;
    const char *value; /* up to the end of the word */
};

/* One a call, *at begins at 0; false: no more. Of a property that is set twice Spark takes the last. */
bool spark_command_next(const struct spark_command *command,
                        size_t *at,
                        struct spark_setting *setting);

/* Is the property set? */
bool spark_command_sets(const struct spark_command *command, const char *key);

/* The name of the application: --name, or spark.app.name; NULL without. */
const char *spark_command_name(const struct spark_command *command);

/*
 * The words with "--conf", "key=value" behind the program for each of `properties`, in a new array
 * ended by NULL: free it (not the words). NULL: no memory.
 */
char **spark_command_with(const struct spark_command *command, char *const properties[], size_t n);

#endif
