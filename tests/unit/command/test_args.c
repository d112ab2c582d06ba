#define _DEFAULT_SOURCE /* clearenv */
#include "command/args.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/principal.h"

static void clean_environment(void)
{
    cr_assert_eq(clearenv(), 0);
}
TestSuite(args, .init = clean_environment, .timeout = 20);

Test(args, options_settings_and_plain_words_are_told_apart)
{
    char words[][24] = {"create", "--team=a=b", "--name", "--odd", "--listen-port=81"};
    char *argv[] = {words[0], words[1], words[2], words[3], words[4]};
    struct arg_option options[] = {{.name = "team"}, {.name = "name"}, {.name = "scopes"}, {0}};
    const char *plain[1];
    size_t n;
    struct config config;
    cr_assert(args_read(5, argv, options, plain, 1, &n, &config));
    cr_assert_eq(n, 1);
    cr_assert_str_eq(plain[0], "create");
    cr_assert_str_eq(options[0].value, "a=b");
    cr_assert_str_eq(options[1].value, "--odd", "the word behind an option is its value");
    cr_assert_null(options[2].value);
    cr_assert_eq(config.listen_port, 81);
}

Test(args, flags_take_no_value_and_some_options_may_be_repeated)
{
    char words[][24] = {"--json", "dir", "--label=a:1", "--label", "b:2"};
    char *argv[] = {words[0], words[1], words[2], words[3], words[4]};
    const char *labels[2];
    struct arg_option options[] = {{.name = "json", .flag = true},
                                   {.name = "quiet", .flag = true},
                                   {.name = "label", .values = labels, .values_max = 2},
                                   {0}};
    const char *plain[1];
    size_t n;
    struct config config;
    cr_assert(args_read(5, argv, options, plain, 1, &n, &config));
    cr_assert_str_eq(plain[0], "dir");
    cr_assert_str_eq(options[0].value, "");
    cr_assert_null(options[1].value);
    cr_assert_eq(options[2].n_values, 2);
    cr_assert_str_eq(labels[0], "a:1");
    cr_assert_str_eq(labels[1], "b:2");

    char bad[][24] = {"--json=yes", "--label=a:1", "--label=b:2", "--label=c:3"};
    char *flag_with_value[] = {bad[0]};
    options[0].value = NULL;
    cr_assert_not(args_read(1, flag_with_value, options, plain, 1, &n, &config));
    char *too_many[] = {bad[1], bad[2], bad[3]};
    options[2].n_values = 0;
    options[2].value = NULL;
    cr_assert_not(args_read(3, too_many, options, plain, 1, &n, &config));
}

Test(args, what_cannot_be_understood_is_refused)
{
    char rows[][2][24] = {{"--team", ""},      {"--team=a", "--team=b"},
                          {"a", "b"},          {"--listen_port=x", ""},
                          {"--nothing=1", ""}, {"--config=/nonexistent", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *argv[] = {rows[i][0], rows[i][1]};
        struct arg_option options[] = {{.name = "team"}, {0}};
        const char *plain[1];
        size_t n;
        struct config config;
        int argc = rows[i][1][0] == '\0' ? 1 : 2;
        cr_expect_not(args_read(argc, argv, options, plain, 1, &n, &config), "row %zu", i);
    }
}

Test(args, durations)
{
    int64_t s = 0;
    cr_expect(args_parse_duration("45s", &s) && s == 45);
    cr_expect(args_parse_duration("30m", &s) && s == 1800);
    cr_expect(args_parse_duration("12h", &s) && s == 43200);
    cr_expect(args_parse_duration("90d", &s) && s == 7776000);
    cr_expect(args_parse_duration("36525d", &s), "a hundred years");
    const char *bad[] = {"",   "d",    "90",  "0d",     "-1d",
                         "1w", "1.5h", "1d ", "36526d", "9999999999999d"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_not(args_parse_duration(bad[i], &s), "%s", bad[i]);
}

Test(args, scopes)
{
    cr_expect_eq(args_parse_scopes("read"), SCOPE_READ);
    cr_expect_eq(args_parse_scopes("admin,read,write"), SCOPE_READ | SCOPE_WRITE | SCOPE_ADMIN);
    const char *bad[] = {"", "read,", ",read", "read,read", "READ", "read write", "readx", "rea"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(args_parse_scopes(bad[i]), 0, "%s", bad[i]);
}
