#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments/parse.h"

TestSuite(cli_arguments, .timeout = 10);

/* --- values --- */

static double value(enum option_kind kind, const char *text)
{
    double number = -1;
    return option_read_number(kind, text, &number) ? number : (double)NAN;
}

Test(cli_arguments, times_have_units)
{
    cr_assert_eq(value(OPTION_DURATION, "90"), 90);
    cr_assert_eq(value(OPTION_DURATION, "90s"), 90);
    cr_assert_eq(value(OPTION_DURATION, "15m"), 900);
    cr_assert_eq(value(OPTION_DURATION, "1h30m"), 5400);
    cr_assert_eq(value(OPTION_DURATION, "1.5h"), 5400);
    cr_assert_eq(value(OPTION_DURATION, "2d"), 172800);
    cr_assert_eq(value(OPTION_DURATION, "500ms"), 0.5);
    cr_assert_eq(value(OPTION_DURATION, "30 s"), 30);
    cr_assert_eq(value(OPTION_DURATION, "1 min 30 s"), 90);
    cr_assert_eq(value(OPTION_DURATION, "1 h 05 min"), 3900);
    static const char *const wrong[] = {"",    "s",   "90x", "-5", "0",   "1h30", "0x10",
                                        "inf", "nan", "1e",  "m5", "1m.", "1e999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert(isnan(value(OPTION_DURATION, wrong[i])), "%s", wrong[i]);
}

Test(cli_arguments, sizes_are_blocks_or_bytes)
{
    cr_assert_eq(value(OPTION_SIZE, "64"), 64);
    cr_assert_eq(value(OPTION_SIZE, "0.5"), 0.5);
    cr_assert_eq(value(OPTION_SIZE, "8GiB"), 64);
    cr_assert_eq(value(OPTION_SIZE, "8.0 GiB"), 64);
    cr_assert_float_eq(value(OPTION_SIZE, "1GB"), 1e9 / 134217728.0, 1e-12);
    cr_assert(isnan(value(OPTION_SIZE, "0")));
    cr_assert_eq(value(OPTION_SIZE, "8G"), 64);
    cr_assert_eq(value(OPTION_SIZE, "512m"), 4);
    cr_assert_eq(value(OPTION_SIZE, "8Gi"), 64);
    cr_assert(isnan(value(OPTION_SIZE, "8gb")));
    cr_assert(isnan(value(OPTION_SIZE, "8x")));
    cr_assert(isnan(value(OPTION_SIZE, "-1")));
}

Test(cli_arguments, bytes_are_whole_with_units_or_without)
{
    cr_assert_eq(value(OPTION_BYTES, "17179869184"), 17179869184.0);
    cr_assert_eq(value(OPTION_BYTES, "16g"), 17179869184.0);
    cr_assert_eq(value(OPTION_BYTES, "16G"), 17179869184.0);
    cr_assert_eq(value(OPTION_BYTES, "16GiB"), 17179869184.0);
    cr_assert_eq(value(OPTION_BYTES, "16GB"), 16e9);
    cr_assert_eq(value(OPTION_BYTES, "1k"), 1024);
    cr_assert_eq(value(OPTION_BYTES, "512m"), 536870912);
    cr_assert_eq(value(OPTION_BYTES, "0.5T"), 549755813888.0);
    cr_assert_eq(value(OPTION_BYTES, "1.2GiB"), 1288490189.0);
    cr_assert_eq(value(OPTION_BYTES, "7B"), 7);
    static const char *const wrong[] = {"",    "0",  "-1",   "1.5", "16gb", "16 g", "g",
                                        "16x", "1[", "16K ", "1e",  "1e20", "0.1B", "1e9T"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert(isnan(value(OPTION_BYTES, wrong[i])), "%s", wrong[i]);
}

Test(cli_arguments, shares_are_shares_or_percent)
{
    cr_assert_eq(value(OPTION_SHARE, "0.95"), 0.95);
    cr_assert_float_eq(value(OPTION_SHARE, "95%"), 0.95, 1e-12);
    cr_assert_float_eq(value(OPTION_SHARE, "95 %"), 0.95, 1e-12);
    cr_assert(isnan(value(OPTION_SHARE, "most")));
}

Test(cli_arguments, counts_are_whole_and_positive)
{
    cr_assert_eq(value(OPTION_COUNT, "12"), 12);
    cr_assert(isnan(value(OPTION_COUNT, "0")));
    cr_assert(isnan(value(OPTION_COUNT, "1.5")));
    cr_assert(isnan(value(OPTION_COUNT, "1e12")));
}

/* --- command lines --- */

static int nothing(struct invocation *invocation)
{
    (void)invocation;
    return 0;
}

static const struct option_spec options[] = {
    {"size", 0, OPTION_SIZE, NULL, "The size.", false},
    {"deadline", 'd', OPTION_DURATION, NULL, "The deadline.", false},
    {"market", 0, OPTION_CHOICE, "spot|on_demand", "The market.", false},
    {"label", 0, OPTION_TEXT, "KEY:VALUE", "A label.", true},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
static const struct option_group group = {"Options", options};
static const struct command gate = {.name = "gate",
                                    .summary = "Decide.",
                                    .positional = "APPLICATION",
                                    .positional_min = 1,
                                    .positional_max = 1,
                                    .groups = {&group},
                                    .run = nothing};
static const struct command submit = {.name = "submit",
                                      .summary = "Submit.",
                                      .positional = "[APPLICATION]",
                                      .positional_max = 1,
                                      .rest = "COMMAND...",
                                      .groups = {&group},
                                      .run = nothing};
static const struct command create = {.name = "create", .summary = "Create.", .run = nothing};
static const struct command *const inside[] = {&create, NULL};
static const struct command tokens = {
    .name = "tokens", .summary = "List tokens.", .subcommands = inside, .run = nothing};
static const struct command *const commands[] = {&gate, &submit, &tokens, NULL};

static struct arguments arguments;
static struct failure failure;

static bool parse(const char *line)
{
    static char text[512];
    static char *argv[32];
    int argc = 0;
    (void)snprintf(text, sizeof text, "provisor %s", line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    failure = (struct failure){.status = EXIT_DONE};
    return arguments_parse(argc, argv, commands, &arguments, &failure);
}

Test(cli_arguments, options_stand_anywhere)
{
    cr_assert(parse("--quiet gate --size 64 nightly -d 90s --label a:1 --label=b:2"));
    cr_assert_eq(arguments.depth, 1);
    cr_assert_eq(arguments.path[0], &gate);
    cr_assert_str_eq(arguments.positional[0], "nightly");
    cr_assert_eq(argument_number(&arguments, "size", 0), 64);
    cr_assert_eq(argument_number(&arguments, "deadline", 0), 90);
    cr_assert(argument_given(&arguments, "quiet"));
    cr_assert_not(argument_given(&arguments, "market"));
    size_t at = 0;
    cr_assert_str_eq(argument_next(&arguments, "label", &at), "a:1");
    cr_assert_str_eq(argument_next(&arguments, "label", &at), "b:2");
    cr_assert_null(argument_next(&arguments, "label", &at));
}

Test(cli_arguments, the_last_value_counts)
{
    cr_assert(parse("gate x --size 1 --size 2"));
    cr_assert_eq(argument_number(&arguments, "size", 0), 2);
}

Test(cli_arguments, what_stands_behind_two_hyphens_is_left_alone)
{
    cr_assert(parse("submit nightly --size 3 -- spark-submit --size 9 --help"));
    cr_assert_eq(arguments.n_positional, 1);
    cr_assert_eq(arguments.n_rest, 4);
    cr_assert_str_eq(arguments.rest[0], "spark-submit");
    cr_assert_str_eq(arguments.rest[3], "--help");
    cr_assert_not(arguments.help);
    cr_assert_eq(argument_number(&arguments, "size", 0), 3);
    cr_assert_not(parse("gate x -- y"));
    cr_assert_eq(failure.status, EXIT_USAGE);
}

Test(cli_arguments, commands_stand_inside_commands)
{
    cr_assert(parse("tokens create"));
    cr_assert_eq(arguments.depth, 2);
    cr_assert_eq(arguments.path[1], &create);
    cr_assert(parse("tokens"));
    cr_assert_eq(arguments.depth, 1);
}

static void refused(const char *line, const char *what, const char *next)
{
    cr_assert_not(parse(line), "%s", line);
    cr_assert_eq(failure.status, EXIT_USAGE);
    cr_assert_not_null(strstr(failure.what, what), "%s: %s", line, failure.what);
    cr_assert_not_null(strstr(failure.next, next), "%s: %s", line, failure.next);
}

Test(cli_arguments, the_nearest_word_is_named)
{
    refused("gaet x", "no command 'gaet'", "`provisor gate`");
    refused("tokens craete", "no command 'craete'", "`provisor tokens create`");
    refused("gate x --dedline 5s", "no option --dedline", "--deadline");
    refused("gate x --qqqqqqqqq", "no option --qqqqqqqqq", "provisor gate --help");
    refused("gate x -z", "no option -z", "");
    refused("gate x --size", "--size needs a value", "");
    refused("gate x --size many", "'many' is not a number of input blocks", "");
    refused("gate x --size 2 GiB", "--size 2 GiB: the unit is a word of its own", "--size 2GiB");
    refused("gate --size=1.5 MB x", "--size 1.5 MB", "--size 1.5MB");
    refused("gate x --size 2 nodes", "takes no word 'nodes'", "");
    refused("gate x --market sport", "not one of spot|on_demand", "");
    refused("gate x --quiet=yes", "--quiet takes no value", "");
    refused("gate", "needs APPLICATION", "provisor gate --help");
    refused("gate x y", "takes no word 'y'", "provisor gate --help");
}

Test(cli_arguments, help_wants_nothing_else)
{
    cr_assert(parse("gate --help"));
    cr_assert(arguments.help);
    cr_assert(parse("--version"));
    cr_assert(arguments.version);
    cr_assert(parse(""));
    cr_assert_eq(arguments.depth, 0);
}
