#include "cli/arguments/parse.h"

#include <assert.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

enum { OPTIONS_MAX = 128, LONG_BASE = 256 };

const char *option_placeholder(const struct option_spec *option)
{
    static const char *const by_kind[] = {
        [OPTION_FLAG] = NULL,     [OPTION_TEXT] = "TEXT",     [OPTION_FILE] = "FILE",
        [OPTION_CHOICE] = "WORD", [OPTION_COUNT] = "N",       [OPTION_NUMBER] = "NUMBER",
        [OPTION_SHARE] = "SHARE", [OPTION_DURATION] = "TIME", [OPTION_SIZE] = "SIZE",
        [OPTION_BYTES] = "BYTES"};
    return option->value != NULL ? option->value : by_kind[option->kind];
}

/* What getopt_long is told: the options of a command and those of every command. */
struct known_options {
    const struct option_spec *specs[OPTIONS_MAX];
    size_t n;
    struct option longs[OPTIONS_MAX + 1];
    char shorts[2 * OPTIONS_MAX + 4];
};

static void know(struct known_options *known, const struct option_spec *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        assert(known->n < OPTIONS_MAX);
        known->specs[known->n] = options;
        known->longs[known->n] = (struct option){
            .name = options->name,
            .has_arg = options->kind == OPTION_FLAG ? no_argument : required_argument,
            .val = LONG_BASE + (int)known->n};
        known->n++;
    }
}

static void know_letters(struct known_options *known, bool stop_at_word)
{
    char *out = known->shorts;
    /* '+': the first word that is no option ends them; ':' tells a missing value from an unknown option */
    if (stop_at_word)
        *out++ = '+';
    *out++ = ':';
    for (size_t i = 0; i < known->n; i++)
        if (known->specs[i]->letter != 0) {
            *out++ = known->specs[i]->letter;
            if (known->specs[i]->kind != OPTION_FLAG)
                *out++ = ':';
        }
    *out = '\0';
}

static void know_all(struct known_options *known, const struct command *command)
{
    *known = (struct known_options){.n = 0};
    for (size_t i = 0; command != NULL && i < COMMAND_GROUPS_MAX && command->groups[i] != NULL; i++)
        know(known, command->groups[i]->options);
    know(known, global_options.options);
    know_letters(known, command == NULL);
}

static const struct option_spec *spec_of(const struct known_options *known, int value)
{
    if (value >= LONG_BASE)
        return known->specs[value - LONG_BASE];
    for (size_t i = 0; i < known->n; i++)
        if (known->specs[i]->letter == value)
            return known->specs[i];
    return NULL;
}

static bool is_choice(const char *words, const char *text)
{
    size_t n = strlen(text);
    for (const char *at = words; n > 0; at++) {
        size_t length = strcspn(at, "|");
        if (length == n && strncmp(at, text, n) == 0)
            return true;
        at += length;
        if (*at == '\0')
            break;
    }
    return false;
}

static const char *wanted(enum option_kind kind)
{
    switch (kind) {
    case OPTION_COUNT:
        return "a whole number from 1 to 1000000000";
    case OPTION_NUMBER:
        return "a number from 0";
    case OPTION_SHARE:
        return "a share such as 0.95 or 95%";
    case OPTION_DURATION:
        return "a time such as 90s, 15m or 1h30m";
    case OPTION_SIZE:
        return "a number of input blocks such as 64, or bytes with a unit such as 8GiB";
    case OPTION_BYTES:
        return "a number of bytes, such as 17179869184, 16g or 16GiB";
    case OPTION_FLAG:
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_CHOICE:
        break;
    }
    return "a value that is not empty";
}

static bool check_value(const struct option_spec *option, const char *text, struct failure *failure)
{
    double number;
    switch (option->kind) {
    case OPTION_FLAG:
        return true;
    case OPTION_TEXT:
    case OPTION_FILE:
        if (text[0] != '\0')
            return true;
        break;
    case OPTION_CHOICE:
        if (is_choice(option->value, text))
            return true;
        return fail(failure, EXIT_USAGE, "--%s: '%.100s' is not one of %s", option->name, text,
                    option->value);
    case OPTION_COUNT:
    case OPTION_NUMBER:
    case OPTION_SHARE:
    case OPTION_DURATION:
    case OPTION_SIZE:
    case OPTION_BYTES:
        if (option_read_number(option->kind, text, &number))
            return true;
        break;
    }
    return fail(failure, EXIT_USAGE, "--%s: '%.100s' is not %s", option->name, text,
                wanted(option->kind));
}

static bool take(struct arguments *arguments,
                 const struct option_spec *option,
                 const char *text,
                 struct failure *failure)
{
    if (strcmp(option->name, "help") == 0)
        arguments->help = true;
    if (strcmp(option->name, "version") == 0)
        arguments->version = true;
    if (!check_value(option, text, failure))
        return false;
    if (arguments->n_given == GIVEN_MAX)
        return fail(failure, EXIT_USAGE, "there are more than %d options", GIVEN_MAX);
    arguments->given[arguments->n_given++] = (struct given_option){option, text};
    return true;
}

static const char *command_name(const struct arguments *arguments, char out[128])
{
    int at = snprintf(out, 128, "provisor");
    for (size_t i = 0; i < arguments->depth && at < 100; i++)
        at += snprintf(out + at, 128 - (size_t)at, "%c%s",
                       arguments->path[i]->is_program ? '-' : ' ', arguments->path[i]->name);
    return out;
}

static bool unknown_option(const struct known_options *known,
                           const struct arguments *arguments,
                           const char *text,
                           struct failure *failure)
{
    char words[128];
    struct nearest nearest = {.word = NULL};
    char name[128];
    const char *bare = text + strspn(text, "-");
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);
    for (size_t i = 0; i < known->n; i++)
        nearest_try(&nearest, name, known->specs[i]->name);
    (void)fail(failure, EXIT_USAGE, "%s has no option %.*s", command_name(arguments, words),
               (int)strcspn(text, "="), text);
    if (nearest.word != NULL)
        return fail_next(failure, "did you mean --%s?", nearest.word);
    return fail_next(failure, "`%s --help` lists its options", words);
}

static bool missing_value(const struct known_options *known, int value, struct failure *failure)
{
    const struct option_spec *option = spec_of(known, value);
    if (option == NULL)
        return fail(failure, EXIT_USAGE, "an option lacks its value");
    return fail(failure, EXIT_USAGE, "--%s needs a value: %s", option->name,
                option->kind == OPTION_CHOICE ? option->value : wanted(option->kind));
}

/* An option that getopt_long did not take: unknown, or ambiguous. */
static bool refuse_option(const struct known_options *known,
                          const struct arguments *arguments,
                          char *argv[],
                          struct failure *failure)
{
    const char *text = argv[optind - 1];
    char letter[3] = {'-', (char)optopt, '\0'};
    if (optopt >= LONG_BASE)
        return fail(failure, EXIT_USAGE, "--%s takes no value",
                    known->specs[optopt - LONG_BASE]->name);
    bool is_long = strncmp(text, "--", 2) == 0;
    return unknown_option(known, arguments, is_long || optopt == 0 ? text : letter, failure);
}

/* Is the word behind the value its unit, as of "--size 2 GiB"? next: NULL behind the last word. */
static bool is_unit_of(const struct option_spec *option, const char *value, const char *next)
{
    char joined[128];
    double number;
    bool is_unit = next != NULL && strspn(next, "0123456789.-") == 0 && value[0] != '\0' &&
                   strspn(value, "0123456789.") == strlen(value);
    if (!is_unit || snprintf(joined, sizeof joined, "%s%s", value, next) >= (int)sizeof joined)
        return false;
    return option_read_number(option->kind, joined, &number);
}

static bool refuse_blank(const struct option_spec *option,
                         const char *value,
                         const char *unit,
                         struct failure *failure)
{
    (void)fail(failure, EXIT_USAGE, "--%s %.60s %.60s: the unit is a word of its own", option->name,
               value, unit);
    return fail_next(failure, "write --%s %s%s", option->name, value, unit);
}

/* Options of argv[1] on, up to the first word where there is no command yet; optind is then at what
 * is left. */
static bool read_options(int argc,
                         char *argv[],
                         const struct command *command,
                         struct arguments *arguments,
                         struct failure *failure)
{
    static struct known_options known;
    know_all(&known, command);
    optind = 0; /* anew, of glibc */
    opterr = 0;
    for (;;) {
        int value = getopt_long(argc, argv, known.shorts, known.longs, NULL);
        if (value == -1)
            return true;
        if (value == ':')
            return missing_value(&known, optopt, failure);
        const struct option_spec *option = value == '?' ? NULL : spec_of(&known, value);
        if (option == NULL)
            return refuse_option(&known, arguments, argv, failure);
        const char *text = option->kind == OPTION_FLAG ? "" : optarg;
        const char *next = optind < argc ? argv[optind] : NULL;
        if (is_unit_of(option, text, next))
            return refuse_blank(option, text, next, failure);
        if (!take(arguments, option, text, failure))
            return false;
    }
}

static const struct command *
find_command(const struct command *const commands[], const char *name, struct nearest *nearest)
{
    for (; commands != NULL && *commands != NULL; commands++) {
        if (strcmp((*commands)->name, name) == 0)
            return *commands;
        if (!(*commands)->hidden)
            nearest_try(nearest, name, (*commands)->name);
    }
    return NULL;
}

static bool unknown_command(const struct arguments *arguments,
                            const char *name,
                            const struct nearest *nearest,
                            struct failure *failure)
{
    char words[128];
    (void)fail(failure, EXIT_USAGE, "%s has no command '%.100s'", command_name(arguments, words),
               name);
    if (nearest->word != NULL)
        return fail_next(failure, "did you mean `%s %s`?", words, nearest->word);
    return fail_next(failure, "`%s --help` lists the commands", words);
}

/* Descend from word to word as long as they are names of commands; *argv is moved behind them. */
static bool choose_command(int *argc,
                           char ***argv,
                           const struct command *const commands[],
                           struct arguments *arguments,
                           struct failure *failure)
{
    const struct command *const *level = commands;
    while (level != NULL && *argc > 1 && (*argv)[1][0] != '-') {
        struct nearest nearest = {.word = NULL};
        const struct command *found = find_command(level, (*argv)[1], &nearest);
        const struct command *inside =
            arguments->depth > 0 ? arguments->path[arguments->depth - 1] : NULL;
        if (found == NULL && inside != NULL && inside->positional_max > 0)
            return true;
        if (found == NULL)
            return unknown_command(arguments, (*argv)[1], &nearest, failure);
        arguments->path[arguments->depth++] = found;
        level = arguments->depth < COMMAND_DEPTH_MAX ? found->subcommands : NULL;
        (*argv)++;
        (*argc)--;
    }
    return true;
}

/* A word too many: perhaps the first one was meant to be a command inside. */
static bool suggest_inside(const struct command *command,
                           const struct arguments *arguments,
                           const char *name,
                           struct failure *failure)
{
    struct nearest nearest = {.word = NULL};
    for (const struct command *const *inside = command->subcommands;
         inside != NULL && *inside != NULL; inside++)
        if (!(*inside)->hidden)
            nearest_try(&nearest, arguments->positional[0], (*inside)->name);
    if (nearest.word != NULL)
        (void)fail_next(failure, "did you mean `%s %s`?", name, nearest.word);
    return false;
}

static bool check_positional(const struct command *command,
                             const struct arguments *arguments,
                             struct failure *failure)
{
    char words[128];
    const char *name = command_name(arguments, words);
    if (arguments->n_positional < command->positional_min)
        (void)fail(failure, EXIT_USAGE, "%s needs %s", name, command->positional);
    else if (arguments->n_positional > command->positional_max)
        (void)fail(failure, EXIT_USAGE, "%s takes no word '%.100s'%s%s here", name,
                   arguments->positional[command->positional_max],
                   command->positional == NULL ? "" : " beside ",
                   command->positional == NULL ? "" : command->positional);
    else if (arguments->n_rest > 0 && command->rest == NULL)
        (void)fail(failure, EXIT_USAGE, "%s takes nothing after --", name);
    else
        return true;
    if (arguments->n_positional > command->positional_max && arguments->n_positional > 0)
        (void)suggest_inside(command, arguments, name, failure);
    return fail_next(failure, "`%s --help` shows how it is used", name);
}

bool arguments_parse(int argc,
                     char *argv[],
                     const struct command *const commands[],
                     struct arguments *arguments,
                     struct failure *failure)
{
    *arguments = (struct arguments){.n_given = 0};
    int own = 1;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    if (own < argc) {
        arguments->rest = argv + own + 1;
        arguments->n_rest = (size_t)(argc - own - 1);
    }
    if (!read_options(own, argv, NULL, arguments, failure))
        return false;
    int behind = optind - 1;
    argv += behind;
    own -= behind;
    if (!choose_command(&own, &argv, commands, arguments, failure))
        return false;
    if (arguments->depth == 0)
        return true;
    const struct command *command = arguments->path[arguments->depth - 1];
    if (!read_options(own, argv, command, arguments, failure))
        return false;
    arguments->positional = argv + optind;
    arguments->n_positional = (size_t)(own - optind);
    return arguments->help || check_positional(command, arguments, failure);
}

const char *argument_next(const struct arguments *arguments, const char *name, size_t *at)
{
    for (; *at < arguments->n_given; (*at)++)
        if (strcmp(arguments->given[*at].option->name, name) == 0)
            return arguments->given[(*at)++].text;
    return NULL;
}

const char *argument_text(const struct arguments *arguments, const char *name)
{
    const char *last = NULL;
    size_t at = 0;
    for (const char *text; (text = argument_next(arguments, name, &at)) != NULL;)
        last = text;
    return last;
}

bool argument_given(const struct arguments *arguments, const char *name)
{
    return argument_text(arguments, name) != NULL;
}

double argument_number(const struct arguments *arguments, const char *name, double fallback)
{
    double value = fallback;
    for (size_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].option->name, name) == 0)
            (void)option_read_number(arguments->given[i].option->kind, arguments->given[i].text,
                                     &value);
    return value;
}
