#include "cli/arguments/completion.h"

#include <string.h>

#include "cli/arguments/parse.h"

/*
 * All three scripts ask the same three questions of a table that is written into them, a line a
 * command: which words may follow a command (those inside it and its options), what an option's value
 * is, and what a command's own words are. Answers are words, or @files, or @applications.
 */

/* A request for names waits no longer than a person does. */
#define ASK_NAMES "provisor apps --names --limit 1000 --timeout 2 --retries 0 --quiet 2>/dev/null"

enum { PATH_ROOM = 128 };

typedef void command_writer(FILE *out, const char *path, const struct command *command);

// NOLINTNEXTLINE(misc-no-recursion): COMMAND_DEPTH_MAX deep
static void
walk(FILE *out, const char *before, const struct command *const commands[], command_writer *visit)
{
    for (; commands != NULL && *commands != NULL; commands++) {
        char path[PATH_ROOM];
        if ((*commands)->hidden)
            continue;
        (void)snprintf(path, sizeof path, "%s%s%s", before, before[0] == '\0' ? "" : " ",
                       (*commands)->name);
        visit(out, path, *commands);
        walk(out, path, (*commands)->subcommands, visit);
    }
}

typedef void option_writer(FILE *out, const char *path, const struct option_spec *option);

static void
walk_options(FILE *out, const char *path, const struct command *command, option_writer *visit)
{
    for (size_t i = 0; i < COMMAND_GROUPS_MAX && command->groups[i] != NULL; i++)
        for (const struct option_spec *o = command->groups[i]->options; o->name != NULL; o++)
            visit(out, path, o);
}

static void write_words(FILE *out, const char *words)
{
    for (; words != NULL && *words != '\0'; words++)
        fputc(*words == '|' ? ' ' : *words, out);
}

/* What the value of an option may be: words, @files or @applications; "" for anything. */
static void write_values(FILE *out, const struct option_spec *option)
{
    if (option->kind == OPTION_FILE)
        fputs("@files", out);
    else if (option->kind == OPTION_CHOICE)
        write_words(out, option->value);
    else if (strcmp(option->name, "output") == 0)
        fputs("table json yaml csv markdown", out);
    else if (option->value != NULL && strcmp(option->value, "APPLICATION") == 0)
        fputs("@applications", out);
}

static bool has_values(const struct option_spec *option)
{
    return option->kind == OPTION_FILE || option->kind == OPTION_CHOICE ||
           strcmp(option->name, "output") == 0 ||
           (option->value != NULL && strcmp(option->value, "APPLICATION") == 0);
}

/* What the words of a command itself are. */
static const char *positional_values(const struct command *command)
{
    const char *positional = command->positional == NULL ? "" : command->positional;
    if (strstr(positional, "APPLICATION") != NULL && strstr(positional, "FILE") != NULL)
        return "@applications @files";
    if (strstr(positional, "APPLICATION") != NULL)
        return "@applications";
    if (strstr(positional, "FILE") != NULL || strstr(positional, "PATH") != NULL)
        return "@files";
    return "";
}

/* --- bash and zsh: functions with a case a command --- */

static void write_option_word(FILE *out, const char *path, const struct option_spec *option)
{
    (void)path;
    fprintf(out, " --%s", option->name);
}

static void write_option_words(FILE *out, const struct command *command)
{
    if (command != NULL)
        walk_options(out, "", command, write_option_word);
    for (const struct option_spec *o = global_options.options; o->name != NULL; o++)
        write_option_word(out, "", o);
}

static void write_inside(FILE *out, const struct command *const commands[])
{
    bool first = true;
    for (; commands != NULL && *commands != NULL; commands++) {
        if ((*commands)->hidden)
            continue;
        fprintf(out, "%s%s", first ? "" : " ", (*commands)->name);
        first = false;
    }
}

static void write_inside_case(FILE *out, const char *path, const struct command *command)
{
    if (command->subcommands == NULL)
        return;
    fprintf(out, "    '%s') echo '", path);
    write_inside(out, command->subcommands);
    fputs("' ;;\n", out);
}

static void write_options_case(FILE *out, const char *path, const struct command *command)
{
    fprintf(out, "    '%s') echo '", path);
    write_option_words(out, command);
    fputs("' ;;\n", out);
}

static void write_positional_case(FILE *out, const char *path, const struct command *command)
{
    const char *values = positional_values(command);
    if (values[0] == '\0' && command->words == NULL)
        return;
    fprintf(out, "    '%s') echo '%s", path, values);
    write_words(out, command->words);
    fputs("' ;;\n", out);
}

static void write_value_case(FILE *out, const char *path, const struct option_spec *option)
{
    if (!has_values(option))
        return;
    fprintf(out, "    '%s --%s'", path, option->name);
    if (option->letter != 0)
        fprintf(out, "|'%s -%c'", path, option->letter);
    fputs(") echo '", out);
    write_values(out, option);
    fputs("' ;;\n", out);
}

static void write_value_cases(FILE *out, const char *path, const struct command *command)
{
    walk_options(out, path, command, write_value_case);
}

static void write_global_value_cases(FILE *out)
{
    for (const struct option_spec *o = global_options.options; o->name != NULL; o++) {
        if (!has_values(o))
            continue;
        fprintf(out, "    *' --%s'", o->name);
        if (o->letter != 0)
            fprintf(out, "|*' -%c'", o->letter);
        fputs(") echo '", out);
        write_values(out, o);
        fputs("' ;;\n", out);
    }
}

/* "--deadline|-d|...": options that take a value, of any command: the word behind is no command. */
static void write_taking(FILE *out, const char *path, const struct option_spec *option)
{
    (void)path;
    if (option->kind == OPTION_FLAG)
        return;
    fprintf(out, "|--%s", option->name);
    if (option->letter != 0)
        fprintf(out, "|-%c", option->letter);
}

static void write_taking_of(FILE *out, const char *path, const struct command *command)
{
    walk_options(out, path, command, write_taking);
}

/* The table as shell functions; the same in bash and zsh. */
static void write_functions(FILE *out, const struct command *const commands[])
{
    fputs("# Written by `provisor completion`.\n\n_provisor_inside() {\n    case $1 in\n    '') "
          "echo '",
          out);
    write_inside(out, commands);
    fputs("' ;;\n", out);
    walk(out, "", commands, write_inside_case);
    fputs("    esac\n}\n\n_provisor_options() {\n    case $1 in\n    '') echo '", out);
    write_option_words(out, NULL);
    fputs("' ;;\n", out);
    walk(out, "", commands, write_options_case);
    fputs("    esac\n}\n\n_provisor_positional() {\n    case $1 in\n", out);
    walk(out, "", commands, write_positional_case);
    fputs("    *) echo '' ;;\n    esac\n}\n\n_provisor_value() {\n    case \"$1 $2\" in\n", out);
    walk(out, "", commands, write_value_cases);
    write_global_value_cases(out);
    fputs("    *) echo '' ;;\n    esac\n}\n\n_provisor_takes_value() {\n    case $1 in\n    --",
          out);
    walk(out, "", commands, write_taking_of);
    for (const struct option_spec *o = global_options.options; o->name != NULL; o++)
        write_taking(out, "", o);
    fputs(") return 0 ;;\n    esac\n    return 1\n}\n\n"
          "_provisor_applications() {\n    " ASK_NAMES "\n}\n\n",
          out);
}

void completion_bash(FILE *out, const struct command *const commands[])
{
    write_functions(out, commands);
    fputs("_provisor_add() {\n"
          "    local word IFS=$' \\t\\n'\n"
          "    for word in $1; do\n"
          "        case $word in\n"
          "        @files) compopt -o filenames; IFS=$'\\n'; COMPREPLY+=($(compgen -f -- \"$2\")); "
          "IFS=$' \\t\\n' ;;\n"
          "        @applications)\n"
          "            local name\n"
          "            while IFS= read -r name; do\n"
          "                [[ $name == \"$2\"* ]] && COMPREPLY+=(\"$(printf '%q' \"$name\")\")\n"
          "            done < <(_provisor_applications) ;;\n"
          "        *) [[ $word == \"$2\"* ]] && COMPREPLY+=(\"$word\") ;;\n"
          "        esac\n"
          "    done\n"
          "}\n\n"
          "_provisor() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path='' "
          "i word\n"
          "    local IFS=$' \\t\\n'\n"
          "    COMPREPLY=()\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        word=${COMP_WORDS[i]}\n"
          "        if [[ $word == -- ]]; then\n"
          "            compopt -o default\n"
          "            return\n"
          "        elif _provisor_takes_value \"$word\"; then\n"
          "            ((i++))\n"
          "        elif [[ \" $(_provisor_inside \"$path\") \" == *\" $word \"* ]]; then\n"
          "            path=\"${path:+$path }$word\"\n"
          "        fi\n"
          "    done\n"
          "    if [[ $before == -* ]] && _provisor_takes_value \"$before\"; then\n"
          "        _provisor_add \"$(_provisor_value \"$path\" \"$before\")\" \"$current\"\n"
          "    elif [[ $current == -* ]]; then\n"
          "        _provisor_add \"$(_provisor_options \"$path\")\" \"$current\"\n"
          "    else\n"
          "        _provisor_add \"$(_provisor_inside \"$path\") $(_provisor_positional "
          "\"$path\")\" \"$current\"\n"
          "    fi\n"
          "}\n\n"
          "complete -F _provisor provisor\n",
          out);
}

void completion_zsh(FILE *out, const struct command *const commands[])
{
    fputs("#compdef provisor\n", out);
    write_functions(out, commands);
    fputs(
        "_provisor_add() {\n"
        "    local word\n"
        "    for word in ${=1}; do\n"
        "        case $word in\n"
        "        @files) _files ;;\n"
        "        @applications) compadd -- ${(f)\"$(_provisor_applications)\"} ;;\n"
        "        *) compadd -- $word ;;\n"
        "        esac\n"
        "    done\n"
        "}\n\n"
        "_provisor() {\n"
        "    local way='' word i before=${words[CURRENT-1]} current=${words[CURRENT]}\n"
        "    for ((i = 2; i < CURRENT; i++)); do\n"
        "        word=${words[i]}\n"
        "        if [[ $word == -- ]]; then\n"
        "            _default\n"
        "            return\n"
        "        elif _provisor_takes_value \"$word\"; then\n"
        "            ((i++))\n"
        "        elif [[ \" $(_provisor_inside \"$way\") \" == *\" $word \"* ]]; then\n"
        "            way=\"${way:+$way }$word\"\n"
        "        fi\n"
        "    done\n"
        "    if [[ $before == -* ]] && _provisor_takes_value \"$before\"; then\n"
        "        _provisor_add \"$(_provisor_value \"$way\" \"$before\")\"\n"
        "    elif [[ $current == -* ]]; then\n"
        "        _provisor_add \"$(_provisor_options \"$way\")\"\n"
        "    else\n"
        "        _provisor_add \"$(_provisor_inside \"$way\") $(_provisor_positional \"$way\")\"\n"
        "    fi\n"
        "}\n\n"
        "if [[ ${funcstack[1]} == _provisor ]]; then\n"
        "    _provisor \"$@\"\n"
        "else\n"
        "    compdef _provisor provisor\n"
        "fi\n",
        out);
}

/* --- fish: a line a completion --- */

/* In single quotes. */
static void write_fish_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++)
        fprintf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('\'', out);
}

static void write_fish_option(FILE *out, const char *path, const struct option_spec *option)
{
    fputs("complete -c provisor", out);
    if (path != NULL)
        fprintf(out, " -n '__provisor_is \"%s\"'", path);
    fprintf(out, " -l %s", option->name);
    if (option->letter != 0)
        fprintf(out, " -s %c", option->letter);
    if (option->kind == OPTION_FILE) {
        fputs(" -r -F", out);
    } else if (option->kind != OPTION_FLAG) {
        fputs(" -x", out);
        if (option->value != NULL && strcmp(option->value, "APPLICATION") == 0)
            fputs(" -a '(__provisor_applications)'", out);
        else if (has_values(option)) {
            fputs(" -a '", out);
            write_values(out, option);
            fputc('\'', out);
        }
    }
    fputs(" -d ", out);
    write_fish_text(out, option->help);
    fputc('\n', out);
}

static void write_fish_inside(FILE *out, const char *path, const struct command *const commands[])
{
    for (; commands != NULL && *commands != NULL; commands++) {
        if ((*commands)->hidden)
            continue;
        fprintf(out, "complete -c provisor -n '__provisor_is \"%s\"' -a %s -d ", path,
                (*commands)->name);
        write_fish_text(out, (*commands)->summary);
        fputc('\n', out);
    }
}

static void write_fish_command(FILE *out, const char *path, const struct command *command)
{
    const char *values = positional_values(command);
    write_fish_inside(out, path, command->subcommands);
    walk_options(out, path, command, write_fish_option);
    if (strstr(values, "@applications") != NULL)
        fprintf(out,
                "complete -c provisor -n '__provisor_is \"%s\"' -a '(__provisor_applications)'\n",
                path);
    if (strstr(values, "@files") != NULL)
        fprintf(out, "complete -c provisor -n '__provisor_is \"%s\"' -F\n", path);
    if (command->words != NULL) {
        fprintf(out, "complete -c provisor -n '__provisor_is \"%s\"' -a '", path);
        write_words(out, command->words);
        fputs("'\n", out);
    }
}

static void write_fish_path(FILE *out, const char *path, const struct command *command)
{
    (void)command;
    fprintf(out, " '%s'", path);
}

void completion_fish(FILE *out, const struct command *const commands[])
{
    fputs("# Written by `provisor completion`.\n\n"
          "function __provisor_applications\n    " ASK_NAMES "\nend\n\n"
          "function __provisor_takes_value\n    string match -qr -- '^(--",
          out);
    walk(out, "", commands, write_taking_of);
    for (const struct option_spec *o = global_options.options; o->name != NULL; o++)
        write_taking(out, "", o);
    fputs(")$' $argv[1]\nend\n\n"
          "# Is this the command that the words so far lead to?\n"
          "function __provisor_is\n"
          "    set -l known",
          out);
    walk(out, "", commands, write_fish_path);
    fputs("\n    set -l way ''\n"
          "    set -l skip 0\n"
          "    set -l words (commandline -opc)\n"
          "    for word in $words[2..-1]\n"
          "        if test $skip = 1\n"
          "            set skip 0\n"
          "        else if __provisor_takes_value $word\n"
          "            set skip 1\n"
          "        else\n"
          "            set -l further (string trim \"$way $word\")\n"
          "            contains -- $further $known; and set way $further\n"
          "        end\n"
          "    end\n"
          "    test \"$way\" = \"$argv[1]\"\n"
          "end\n\n"
          "complete -c provisor -f\n",
          out);
    for (const struct option_spec *o = global_options.options; o->name != NULL; o++)
        write_fish_option(out, NULL, o);
    write_fish_inside(out, "", commands);
    walk(out, "", commands, write_fish_command);
}
