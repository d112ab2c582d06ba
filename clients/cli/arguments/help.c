#include "cli/arguments/help.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { HELP_WIDTH = 79, HELP_INDENT = 26, CHOICE_SHORT = 40, OPTION_HELP = 1024 };

static const char about_configuration[] = "A value is taken from the command line, else from the "
                                          "environment, else from the chosen profile of the "
                                          "configuration file ($XDG_CONFIG_HOME/provisor/config, "
                                          "in most cases ~/.config/provisor/config). "
                                          "`provisor login` writes that file, and the token beside "
                                          "it into a file that only you can read.";

static const char *const environment[][2] = {
    {"PROVISOR_URL", "where the service is, e.g. https://provisor.example"},
    {"PROVISOR_TOKEN", "the bearer token"},
    {"PROVISOR_TOKEN_FILE", "a file that holds the token"},
    {"PROVISOR_CA_FILE", "certificates (PEM) to trust in place of the system's"},
    {"PROVISOR_PROFILE", "the section of the configuration file to use"},
    {"PROVISOR_CLIENT_CONFIG", "the configuration file"},
    {"NO_COLOR", "set: no colour"},
};

static const char *const statuses[][2] = {
    {"0", "done; of `gate`: go ahead"},
    {"1", "the service or the network failed, or a file cannot be written; of `ingest`: a log was "
          "rejected, or no file is a log"},
    {"2",
     "the command line or the configuration is wrong, or a file that they name cannot be read"},
    {"3", "the gate failed: the deadline is predicted to be missed, or a limit was passed; of "
          "`feasible` and `batch`: a deadline is missed"},
    {"4", "predicted to be in time, with less than the confidence asked"},
    {"5", "the history does not allow an answer"},
    {"6", "too little of the cluster is free"},
};

/* --- text --- */

/* Words of the text, broken to lines; the first line begins at column `from`. */
static void write_wrapped(FILE *out, const char *text, size_t indent, size_t from)
{
    size_t column = from;
    bool first = true;
    while (*text != '\0') {
        size_t n = strcspn(text, " \n");
        if (n > 0) {
            if (!first && column + 1 + n > HELP_WIDTH) {
                fprintf(out, "\n%*s", (int)indent, "");
                column = indent;
            } else if (!first) {
                fputc(' ', out);
                column++;
            }
            fprintf(out, "%.*s", (int)n, text);
            column += n;
            first = false;
        }
        text += n;
        if (*text == '\n' && text[1] == '\n') {
            fprintf(out, "\n\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        text += *text != '\0';
    }
    fputc('\n', out);
}

static void write_row(FILE *out, const char *left, const char *right)
{
    size_t n = strlen(left);
    fprintf(out, "  %s", left);
    if (n + 4 > HELP_INDENT)
        fprintf(out, "\n%*s", HELP_INDENT, "");
    else
        fprintf(out, "%*s", (int)(HELP_INDENT - 2 - n), "");
    write_wrapped(out, right, HELP_INDENT, HELP_INDENT);
}

/* A choice among many words: they stand in the explanation, not in the option's place. */
static bool is_long_choice(const struct option_spec *option)
{
    return option->kind == OPTION_CHOICE && strlen(option->value) > CHOICE_SHORT;
}

static const char *shown_value(const struct option_spec *option)
{
    return is_long_choice(option) ? "WORD" : option_placeholder(option);
}

static void shown_help(const struct option_spec *option, char out[OPTION_HELP])
{
    int at = snprintf(out, OPTION_HELP, "%s", option->help);
    if (!is_long_choice(option) || at < 0)
        return;
    at += snprintf(out + at, OPTION_HELP - (size_t)at, " One of ");
    for (const char *word = option->value; *word != '\0' && at + 64 < OPTION_HELP;) {
        size_t n = strcspn(word, "|");
        bool last = word[n] == '\0';
        at +=
            snprintf(out + at, OPTION_HELP - (size_t)at, "%.*s%s", (int)n, word, last ? "." : ", ");
        word += n + !last;
    }
}

/* "-q, --quiet", "    --size SIZE" */
static void option_words(const struct option_spec *option, char out[160])
{
    char letter[8] = "    ";
    if (option->letter != 0)
        (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
    const char *value = shown_value(option);
    (void)snprintf(out, 160, "%s--%s%s%s", letter, option->name, value == NULL ? "" : " ",
                   value == NULL ? "" : value);
}

static void write_group(FILE *out, const struct option_group *group)
{
    fprintf(out, "\n%s:\n", group->heading);
    for (const struct option_spec *option = group->options; option->name != NULL; option++) {
        char words[160];
        char help[OPTION_HELP];
        option_words(option, words);
        shown_help(option, help);
        write_row(out, words, help);
    }
}

static void path_words(const struct command *const path[], size_t depth, char out[160])
{
    int at = snprintf(out, 160, "provisor");
    for (size_t i = 0; i < depth && at > 0 && at < 140; i++)
        at += snprintf(out + at, 160 - (size_t)at, "%c%s", path[i]->is_program ? '-' : ' ',
                       path[i]->name);
}

static void write_usage(FILE *out, const struct command *command, const char *words)
{
    if (command->run != NULL || command->is_program)
        fprintf(out, "%s%s%s [OPTION...]%s%s", words, command->positional == NULL ? "" : " ",
                command->positional == NULL ? "" : command->positional,
                command->rest == NULL ? "" : " -- ", command->rest == NULL ? "" : command->rest);
    else
        fprintf(out, "%s COMMAND", words);
}

static void write_commands(FILE *out, const struct command *const commands[])
{
    for (; *commands != NULL; commands++)
        if (!(*commands)->hidden)
            write_row(out, (*commands)->name, (*commands)->summary);
}

void help_overview(FILE *out, const struct command *const commands[])
{
    fputs("Usage: provisor COMMAND [OPTION...]\n\n"
          "Provisioning advice for Spark jobs from the history of their runs.\n\nCommands:\n",
          out);
    write_commands(out, commands);
    write_group(out, &global_options);
    fputs("\nEnvironment:\n", out);
    for (size_t i = 0; i < sizeof environment / sizeof *environment; i++)
        write_row(out, environment[i][0], environment[i][1]);
    fputs("\nExit status:\n", out);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        write_row(out, statuses[i][0], statuses[i][1]);
    fputs("\n`provisor COMMAND --help` explains a command.\n", out);
}

void help_command(FILE *out, const struct command *const path[], size_t depth)
{
    const struct command *command = path[depth - 1];
    char words[160];
    path_words(path, depth, words);
    fputs("Usage: ", out);
    write_usage(out, command, words);
    if (command->run != NULL && command->subcommands != NULL)
        fprintf(out, "\n       %s COMMAND", words);
    fputs("\n\n", out);
    write_wrapped(out, command->description != NULL ? command->description : command->summary, 0,
                  0);
    if (command->subcommands != NULL) {
        fputs("\nCommands:\n", out);
        write_commands(out, command->subcommands);
    }
    for (size_t i = 0; i < COMMAND_GROUPS_MAX && command->groups[i] != NULL; i++)
        write_group(out, command->groups[i]);
    write_group(out, &global_options);
    if (command->examples != NULL)
        fprintf(out, "\nExamples:\n%s\n", command->examples);
}

/* --- manual pages --- */

/* Text as roff takes it: no line begins a request, hyphens stay hyphens. */
static void write_roff(FILE *out, const char *text)
{
    bool line_start = true;
    for (; *text != '\0'; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        line_start = *text == '\n';
        if (*text == '\n' && text[1] == '\n') {
            fputs("\n.PP\n", out);
            text++;
        } else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
    }
}

static void write_roff_rows(FILE *out, const char *const rows[][2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputs(".TP\n.B ", out);
        write_roff(out, rows[i][0]);
        fputc('\n', out);
        write_roff(out, rows[i][1]);
        fputc('\n', out);
    }
}

static void write_roff_group(FILE *out, const struct option_group *group)
{
    fputs(".SS \"", out);
    write_roff(out, group->heading);
    fputs("\"\n", out);
    for (const struct option_spec *option = group->options; option->name != NULL; option++) {
        const char *value = shown_value(option);
        char help[OPTION_HELP];
        shown_help(option, help);
        fputs(".TP\n", out);
        if (option->letter != 0)
            fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
        fputs("\\fB\\-\\-", out);
        write_roff(out, option->name);
        fputs("\\fR", out);
        if (value != NULL) {
            fputs(" \\fI", out);
            write_roff(out, value);
            fputs("\\fR", out);
        }
        fputc('\n', out);
        write_roff(out, help);
        fputc('\n', out);
    }
}

static void write_title(FILE *out, const char *name, const char *version)
{
    char upper[64];
    size_t n = 0;
    for (; name[n] != '\0' && n < sizeof upper - 1; n++)
        upper[n] = (char)toupper((unsigned char)name[n]);
    upper[n] = '\0';
    fputs(".TH ", out);
    write_roff(out, upper);
    fprintf(out, " 1 \"\" \"provisor %s\" \"provisor\"\n.nh\n.ad l\n", version);
}

static void write_roff_heading(FILE *out, const char *heading)
{
    fprintf(out, ".SH \"%s\"\n", heading);
}

static void write_manual_tail(FILE *out)
{
    write_roff_heading(out, "CONFIGURATION");
    write_roff(out, about_configuration);
    fputc('\n', out);
    write_roff_heading(out, "ENVIRONMENT");
    write_roff_rows(out, environment, sizeof environment / sizeof *environment);
    write_roff_heading(out, "EXIT STATUS");
    write_roff_rows(out, statuses, sizeof statuses / sizeof *statuses);
}

void help_manual(FILE *out, const struct command *const commands[], const char *version)
{
    write_title(out, "provisor", version);
    write_roff_heading(out, "NAME");
    fputs("provisor \\- provisioning advice for Spark jobs\n", out);
    write_roff_heading(out, "SYNOPSIS");
    fputs(".B provisor\n.I COMMAND\n.RI [ OPTION ...]\n", out);
    write_roff_heading(out, "DESCRIPTION");
    fputs("Asks a provisor service how many executors a job needs to meet its deadline, and sends "
          "it the "
          "event logs from which it learns.\n",
          out);
    write_roff_heading(out, "COMMANDS");
    for (; *commands != NULL; commands++)
        if (!(*commands)->hidden) {
            fputs(".TP\n.BR ", out);
            fputs("provisor\\-", out);
            write_roff(out, (*commands)->name);
            fputs(" (1)\n", out);
            write_roff(out, (*commands)->summary);
            fputc('\n', out);
        }
    write_roff_heading(out, "OPTIONS");
    write_roff_group(out, &global_options);
    write_manual_tail(out);
}

static void write_manual_command(FILE *out, const struct command *const path[], size_t depth)
{
    const struct command *command = path[depth - 1];
    char words[160];
    path_words(path, depth, words);
    if (depth > 1) {
        fputs(".SH \"", out);
        write_roff(out, words);
        fputs("\"\n", out);
    }
    write_roff(out, command->description != NULL ? command->description : command->summary);
    fputc('\n', out);
    if (command->run != NULL && depth > 1) {
        fputs(".PP\n", out);
        char usage[512] = "";
        FILE *memory = fmemopen(usage, sizeof usage, "w");
        if (memory != NULL) {
            write_usage(memory, command, words);
            (void)fclose(memory);
        }
        write_roff(out, usage);
        fputc('\n', out);
    }
    if (command->groups[0] != NULL && depth == 1)
        write_roff_heading(out, "OPTIONS");
    for (size_t i = 0; i < COMMAND_GROUPS_MAX && command->groups[i] != NULL; i++)
        write_roff_group(out, command->groups[i]);
    if (command->examples != NULL) {
        fputs(".SS Examples\n.nf\n", out);
        write_roff(out, command->examples);
        fputs("\n.fi\n", out);
    }
}

void help_manual_of(FILE *out, const struct command *command, const char *version)
{
    char name[80];
    (void)snprintf(name, sizeof name, "provisor-%s", command->name);
    write_title(out, name, version);
    write_roff_heading(out, "NAME");
    write_roff(out, name);
    fputs(" \\- ", out);
    char summary[200];
    size_t n = strlen(command->summary);
    (void)snprintf(summary, sizeof summary, "%.*s",
                   (int)(n > 0 && command->summary[n - 1] == '.' ? n - 1 : n), command->summary);
    write_roff(out, summary);
    fputc('\n', out);
    write_roff_heading(out, "SYNOPSIS");
    char usage[512] = "";
    FILE *memory = fmemopen(usage, sizeof usage, "w");
    const struct command *path[COMMAND_GROUPS_MAX] = {command};
    char words[160];
    path_words(path, 1, words);
    if (memory != NULL) {
        write_usage(memory, command, words);
        (void)fclose(memory);
    }
    write_roff(out, usage);
    fputc('\n', out);
    write_roff_heading(out, "DESCRIPTION");
    write_manual_command(out, path, 1);
    for (const struct command *const *inside = command->subcommands;
         inside != NULL && *inside != NULL; inside++) {
        path[1] = *inside;
        write_manual_command(out, path, 2);
    }
    write_roff_heading(out, "SEE ALSO");
    fputs(".BR provisor (1)\nhas the options of every command.\n", out);
    write_manual_tail(out);
}
