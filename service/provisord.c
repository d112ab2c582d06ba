#include <gsl/gsl_errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "codec/json/reader.h"
#include "command/command.h"
#include "config/config.h"

static int command_help(int argc, char *argv[]);

static const struct command commands[] = {
    {"serve", "[--config=FILE] [--SETTING=VALUE ...]", "answer requests until SIGTERM",
     command_serve},
    {"migrate", "[--SETTING=VALUE ...]", "apply the migrations that the database lacks",
     command_migrate},
    {"maintain", "[--SETTING=VALUE ...]", "keep house once, now: retention, thinning, partitions",
     command_maintain},
    {"import",
     "PATH... (--team T | --token-file FILE) [--application NAME] [--label KEY:VALUE ...] "
     "[--threads N] [--dry-run] [--json] [--quiet] [--SETTING=VALUE ...]",
     "load logs that lie on disk", command_import},
    {"token",
     "create --team T --name N --scopes read,write,admin [--expires-in 90d]\n"
     "list [--team T]\n"
     "revoke ID",
     "make, show and revoke tokens as the database's owner", command_token},
    {"quotas",
     "[list] [--team T] [--json]\n"
     "set TEAM NAME=NUMBER... [--json]\n"
     "reset TEAM [NAME...] [--json]",
     "show and change how much teams may store, as the database's owner", command_quotas},
    {"operations",
     "list [--team T] [--status S] [--kind K] [--application A] [--limit N] [--json]\n"
     "cancel ID... [--json]",
     "show and cancel long work as the database's owner", command_operations},
    {"sample", "--out=DIR [--seed=N]", "write event logs of invented applications", command_sample},
    {"settings", "[--markdown]", "print every setting with its default, range and meaning",
     command_settings},
    {"metrics", "[--markdown]", "print what /metrics counts, as a table", command_metrics},
    {"version", "", "print the version of the program and of the contract it serves",
     command_version},
    {"help", "", "print this", command_help},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* A line for each form of a command, the first one behind `lead`, the others behind as many blanks. */
static void
print_forms(FILE *out, const struct command *command, const char *lead, const char *program)
{
    const char *form = command->synopsis;
    for (size_t n = 0;; form += n + 1) {
        n = strcspn(form, "\n");
        fprintf(out, "%*s%s%s%s%.*s\n", (int)strlen(lead), form == command->synopsis ? lead : "",
                program, command->name, n == 0 ? "" : " ", (int)n, form);
        if (form[n] == '\0')
            return;
    }
}

static void print_usage(FILE *out)
{
    fputs("usage: provisord COMMAND ...\n\n", out);
    for (size_t i = 0; i < COMMANDS; i++) {
        print_forms(out, &commands[i], "  ", "");
        fprintf(out, "      %s\n", commands[i].help);
    }
}

/* One line a command. */
static void print_commands(FILE *out)
{
    fputs("usage: provisord COMMAND ...\n\n", out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].help);
    fputs("\n`provisord COMMAND --help` shows the arguments of a command, `provisord help` all "
          "commands and settings.\n",
          out);
}

static void print_help_of(const struct command *command)
{
    print_forms(stdout, command, "usage: ", "provisord ");
    printf("\n%s\n", command->help);
    if (strstr(command->synopsis, "SETTING") != NULL)
        puts("\n`provisord settings` lists the settings.");
}

static int command_help(int argc, char *argv[])
{
    (void)argc, (void)argv;
    print_usage(stdout);
    fputs("\nSettings, from a file (--config=FILE or PROVISOR_CONFIG), the environment"
          " (PROVISOR_<SETTING>)\nand the command line; later ones win:\n\n",
          stdout);
    config_print_help(stdout);
    return COMMAND_DONE;
}

/* Libraries that must be configured before the first thread (docs/design.md, "Process"). */
static bool set_up_libraries(void)
{
    (void)gsl_set_error_handler_off(); /* its default aborts */
    /* Each request has random numbers, which from the system take a call each. */
    (void)randombytes_set_implementation(&randombytes_internal_implementation);
    return sodium_init() >= 0;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static const struct command *find_command(const char *word)
{
    if (asks_for_help(word))
        word = "help";
    if (strcmp(word, "--version") == 0)
        word = "version";
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, word) == 0)
            return &commands[i];
    return NULL;
}

int main(int argc, char *argv[])
{
    const struct command *command = argc < 2 ? NULL : find_command(argv[1]);
    for (int i = 2; command != NULL && i < argc; i++)
        if (asks_for_help(argv[i])) {
            print_help_of(command);
            return COMMAND_DONE;
        }
    if (command == NULL) {
        if (argc >= 2)
            fprintf(stderr, "provisord: %s: there is no such command\n", argv[1]);
        print_commands(stderr);
        return COMMAND_USAGE;
    }
    if (!set_up_libraries()) {
        fputs("provisord: no random numbers on this system\n", stderr);
        return COMMAND_FAILED;
    }
    return command->run(argc - 2, argv + 2);
}
