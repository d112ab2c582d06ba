#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/report.h"

static void read_utf8(void)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
}

TestSuite(cli_table, .timeout = 10, .init = read_utf8);

static const struct column columns[] = {{"name", "name", CELL_TEXT, NULL},
                                        {"took", "took_s", CELL_SECONDS, NULL},
                                        {"at", "at", CELL_MINUTE, NULL},
                                        {"id", "id", CELL_ID, NULL}};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static json_t *items(void)
{
    return json_pack("[{s:s, s:f, s:s, s:s}]", "name", "a name that is longer than it need be",
                     "took_s", 45.5, "at", "2026-01-05T10:30:15Z", "id",
                     "01a210ce-8c30-7732-99ba-b11b0a9d16ee");
}

static char *written(enum output_form form,
                     const struct terminal *terminal,
                     const struct section sections[],
                     size_t n,
                     const json_t *all)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct failure failure = {.status = EXIT_DONE};
    cr_assert(report_write(out, form, terminal, sections, n, all, &failure));
    (void)fclose(out);
    return text;
}

static void expect(size_t width, const char *wanted)
{
    const struct terminal terminal = {.width = width};
    json_t *list = items();
    const struct section section = {.value = list, .columns = columns, .n_columns = N_COLUMNS};
    char *text = written(FORM_TABLE, &terminal, &section, 1, list);
    cr_assert_str_eq(text, wanted);
    free(text);
    json_decref(list);
}

Test(cli_table, nothing_is_shortened_without_a_terminal)
{
    expect(0, "name                                     took  at                id\n"
              "a name that is longer than it need be  45.5 s  2026-01-05 10:30  "
              "01a210ce-8c30-7732-99ba-b11b0a9d16ee\n");
}

Test(cli_table, texts_are_shortened_ids_never)
{
    expect(90, "name                          took  at                id\n"
               "a name that is longer tha…  45.5 s  2026-01-05 10:30  "
               "01a210ce-8c30-7732-99ba-b11b0a9d16ee\n");
}

Test(cli_table, columns_are_left_out_before_texts_become_unreadable_but_never_ids)
{
    expect(64, "name                  took  id\n"
               "a name that is lo…  45.5 s  01a210ce-8c30-7732-99ba-b11b0a9d16ee\n");
    expect(60, "name                    id\n"
               "a name that is longer…  01a210ce-8c30-7732-99ba-b11b0a9d16ee\n");
    expect(55, "  took  id\n"
               "45.5 s  01a210ce-8c30-7732-99ba-b11b0a9d16ee\n");
}

Test(cli_table, a_terminal_too_narrow_for_an_id_gets_records)
{
    expect(30, "name\n"
               "  a name that is longer than\n"
               "  it need be\n"
               "took  45.5 s\n"
               "at    2026-01-05 10:30\n"
               "id\n"
               "  01a210ce-8c30-7732-99ba-b11b0a9d16ee\n");
}

/* At each width, names, ids and verdicts of a list are whole. */
Test(cli_table, names_and_verdicts_are_whole_at_every_width)
{
    static const struct column kept[] = {{"runs", "runs", CELL_COUNT, NULL},
                                         {"application", "name", CELL_NAME, NULL},
                                         {"note", "note", CELL_TEXT, NULL},
                                         {"verdict", "verdict", CELL_VERDICT, NULL},
                                         {"id", "id", CELL_ID, NULL}};
    json_t *list = json_pack("[{s:i, s:s, s:s, s:s, s:s}]", "runs", 12, "name",
                             "interactive session (spark-shell of the finance team)", "note",
                             "words that may be cut when there is no room for them", "verdict",
                             "at_risk", "id", "01a210ce-8c30-7732-99ba-b11b0a9d16ee");
    const struct section section = {.value = list, .columns = kept, .n_columns = 5};
    for (size_t width = 10; width < 200; width++) {
        const struct terminal terminal = {.width = width};
        char *text = written(FORM_TABLE, &terminal, &section, 1, list);
        cr_expect(strstr(text, "interactive session (spark-shell of the finance team)") != NULL);
        cr_expect(strstr(text, "at_risk") != NULL);
        cr_expect(strstr(text, "01a210ce-8c30-7732-99ba-b11b0a9d16ee") != NULL, "%zu", width);
        free(text);
    }
    json_decref(list);
}

Test(cli_table, a_cell_of_csv_holds_one_value)
{
    static const struct column wide[] = {{"at least", "interval_s.0", CELL_SECONDS, NULL},
                                         {"at most", "interval_s.1", CELL_SECONDS, NULL},
                                         {"from", "interval.0", CELL_NUMBER, NULL},
                                         {"first", "tasks.0", CELL_NUMBER, NULL},
                                         {"scopes", "scopes", CELL_TEXT, NULL},
                                         {"labels", "labels", CELL_TEXT, NULL},
                                         {"none", "none", CELL_TEXT, NULL}};
    const struct terminal terminal = {.width = 0};
    json_t *list = json_pack("[{s:[f, f], s:[f, f], s:[i], s:[s, s], s:{s:s}, s:[]}]", "interval_s",
                             63.5, 90.25, "interval", 1.5, 2.5, "tasks", 7, "scopes", "read",
                             "write", "labels", "region", "eu, north", "none");
    const struct section section = {.value = list, .columns = wide, .n_columns = 7};
    char *text = written(FORM_CSV, &terminal, &section, 1, list);
    cr_assert_str_eq(text,
                     "interval_low_s,interval_high_s,interval_low,tasks.0,scopes,labels,none\r\n"
                     "63.5,90.25,1.5,7,\"[\"\"read\"\",\"\"write\"\"]\","
                     "\"{\"\"region\"\":\"\"eu, north\"\"}\",\r\n");
    free(text);
    json_decref(list);
}

Test(cli_table, a_report_has_its_parts)
{
    const struct terminal terminal = {.width = 80};
    json_t *list = items();
    json_t *empty = json_array();
    json_t *all = json_pack("{s:O, s:O}", "list", list, "empty", empty);
    const struct section sections[] = {
        {.text = ""},
        {.title = "Nothing", .value = empty, .columns = columns, .n_columns = N_COLUMNS},
        {.title = "Items", .value = list, .columns = columns, .n_columns = 1},
        {.text = "Words."}};
    char *text = written(FORM_TABLE, &terminal, sections, 4, all);
    cr_assert_str_eq(text, "Items\nname\na name that is longer than it need be\n\nWords.\n");
    free(text);
    text = written(FORM_MARKDOWN, &terminal, sections, 4, all);
    cr_assert_str_eq(text,
                     "### Items\n\n| name |\n|---|\n| a name that is longer than it need be |\n\n"
                     "Words.\n");
    free(text);
    text = written(FORM_CSV, &terminal, sections + 2, 2, all);
    cr_assert_str_eq(text, "name\r\na name that is longer than it need be\r\n");
    free(text);
    text = written(FORM_JSON, &terminal, sections, 4, all);
    cr_assert(strncmp(text, "{\n  \"list\": [", 13) == 0);
    free(text);
    json_decref(all);
    json_decref(list);
    json_decref(empty);
}

static void draw_words(FILE *out, const struct terminal *terminal, const void *context)
{
    table_write_wrapped(out, terminal, 2, context);
}

Test(cli_table, what_is_drawn_for_people_is_a_table_in_other_forms)
{
    const struct terminal terminal = {.width = 0};
    json_t *list = json_pack("[{s:s}]", "name", "a");
    const struct section sections[] = {
        {.title = "Names",
         .value = list,
         .columns = columns,
         .n_columns = 1,
         .draw = draw_words,
         .context = "- one name"},
        {.title = "Picture", .draw = draw_words, .context = "a picture"}};
    static const struct {
        enum output_form form;
        const char *wanted;
    } cases[] = {{FORM_TABLE, "Names\n  - one name\n\nPicture\n  a picture\n"},
                 {FORM_CSV, "name\r\na\r\n"},
                 {FORM_MARKDOWN, "### Names\n\n| name |\n|---|\n| a |\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = written(cases[i].form, &terminal, sections, 2, list);
        cr_expect_str_eq(text, cases[i].wanted);
        free(text);
    }
    json_decref(list);
}
