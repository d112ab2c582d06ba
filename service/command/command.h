#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

/*
 * A subcommand of provisord is a file here and a row in provisord.c. It gets the words behind its
 * name, says words on standard error and data on standard output, and answers the exit status.
 */
enum command_status {
    COMMAND_DONE = 0,
    COMMAND_FAILED = 1, /* could not be done */
    COMMAND_USAGE = 2   /* wrong words or settings: nothing was tried */
};

struct command {
    const char *name;
    const char *synopsis; /* words behind the name; a line for each form */
    const char *help;     /* one line */
    int (*run)(int argc, char *argv[]);
};

int command_serve(int argc, char *argv[]);
int command_import(int argc, char *argv[]);
int command_migrate(int argc, char *argv[]);
int command_maintain(int argc, char *argv[]);
int command_operations(int argc, char *argv[]);
int command_quotas(int argc, char *argv[]);
int command_token(int argc, char *argv[]);
int command_settings(int argc, char *argv[]);
int command_metrics(int argc, char *argv[]);
int command_sample(int argc, char *argv[]);
int command_version(int argc, char *argv[]);

#endif
