#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/completion.h"

TestSuite(cli_completion, .timeout = 10);

static const struct option_spec options[] = {
    {"shade", 's', OPTION_CHOICE, "light|dark", "How dark it's.", false},
    {"from", 0, OPTION_TEXT, "APPLICATION", "Whose.", false},
    {"file", 0, OPTION_FILE, NULL, "Where to.", false},
    {"flag", 0, OPTION_FLAG, NULL, "A flag.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
static const struct option_group group = {"Options", options};
static const struct command inner = {
    .name = "inner", .summary = "Inside.", .positional = "FILE", .groups = {&group}};
static const struct command *const inside[] = {&inner, NULL};
static const struct command outer = {.name = "outer",
                                     .summary = "It's outside.",
                                     .positional = "APPLICATION",
                                     .subcommands = inside};
static const struct command hidden = {.name = "secret", .summary = "Hidden.", .hidden = true};
static const struct command *const commands[] = {&outer, &hidden, NULL};

typedef void write_script(FILE *out, const struct command *const commands[]);

static char *script(write_script *write)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    write(out, commands);
    (void)fclose(out);
    return text;
}

static void expect(const char *text, const char *wanted)
{
    cr_assert_not_null(strstr(text, wanted), "%s is not in:\n%s", wanted, text);
}

Test(cli_completion, shells_of_functions)
{
    static write_script *const both[] = {completion_bash, completion_zsh};
    for (size_t i = 0; i < 2; i++) {
        char *text = script(both[i]);
        expect(text, "'') echo 'outer' ;;");
        expect(text, "'outer') echo 'inner' ;;");
        expect(text, "'outer inner') echo ' --shade --from --file --flag --url");
        expect(text, "'outer inner --shade'|'outer inner -s') echo 'light dark' ;;");
        expect(text, "'outer inner --from') echo '@applications' ;;");
        expect(text, "'outer inner --file') echo '@files' ;;");
        expect(text, "*' --ca-file') echo '@files' ;;");
        expect(text, "'outer') echo '@applications' ;;");
        expect(text, "'outer inner') echo '@files' ;;");
        expect(text, "--timeout 2 --retries 0");
        cr_assert_null(strstr(text, "secret"));
        cr_assert_null(strstr(text, "|--flag"), "a flag takes no value");
        free(text);
    }
}

Test(cli_completion, fish)
{
    char *text = script(completion_fish);
    expect(text, "-n '__provisor_is \"\"' -a outer -d 'It\\'s outside.'");
    expect(text, "-n '__provisor_is \"outer inner\"' -l shade -s s -x -a 'light dark' -d 'How dark "
                 "it\\'s.'");
    expect(text, "-n '__provisor_is \"outer inner\"' -l file -r -F");
    expect(text, "-n '__provisor_is \"outer inner\"' -l flag -d");
    expect(text, "-n '__provisor_is \"outer\"' -a '(__provisor_applications)'");
    cr_assert_null(strstr(text, "secret"));
    free(text);
}
