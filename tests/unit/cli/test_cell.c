#include <criterion/criterion.h>
#include <string.h>

#include "cli/output/cell.h"
#include "cli/output/json_text.h"
#include "cli/output/table.h"

TestSuite(cli_cell, .timeout = 10);

Test(cli_cell, bytes_may_be_fewer)
{
    char text[CELL_TEXT_MAX];
    json_t *value = json_real(-1400000000);
    cell_for_people(value, CELL_BYTES, text);
    cr_assert_str_eq(text, "-1.3 GiB");
    json_real_set(value, 312);
    cell_for_people(value, CELL_BYTES, text);
    cr_assert_str_eq(text, "312 B");
    json_decref(value);
}

Test(cli_cell, a_problem_size_has_the_unit_of_its_measure)
{
    char text[CELL_TEXT_MAX];
    json_t *item = json_loads("{\"last_run\":{\"problem_size\":404,\"problem_size_measured_by\":"
                              "\"input_blocks\"},\"problem_size\":4,\"problem_size_measured_by\":"
                              "{\"kind\":\"label\"},\"given\":{\"problem_size\":null}}",
                              0, NULL);
    cell_of_member(item, "last_run.problem_size", CELL_SIZE, text);
    cr_assert_str_eq(text, "50.5 GiB");
    cell_of_member(item, "last_run.problem_size", CELL_SIZE_IN_FULL, text);
    cr_assert_str_eq(text, "50.5 GiB in 404 blocks");
    cell_of_member(item, "problem_size", CELL_SIZE, text);
    cr_assert_str_eq(text, "4");
    cell_of_member(item, "given.problem_size", CELL_SIZE, text);
    cr_assert_str_eq(text, "-");
    cell_of_member(item, "nothing.problem_size", CELL_SIZE, text);
    cr_assert_str_eq(text, "-");
    json_decref(item);
}

Test(cli_cell, nothing_uncertain_reads_as_certain)
{
    char text[CELL_TEXT_MAX];
    json_t *value = json_real(0.9999);
    cell_for_people(value, CELL_PROBABILITY, text);
    cr_assert_str_eq(text, "more than 99.9 %");
    json_real_set(value, 0.974);
    cell_for_people(value, CELL_SHARE, text);
    cr_assert_str_eq(text, "97.4 %");
    cell_for_people(NULL, CELL_SHARE, text);
    cr_assert_str_eq(text, "-");
    json_decref(value);
}

Test(cli_cell, a_terminal_is_given_nothing_to_obey)
{
    char text[CELL_TEXT_MAX];
    json_t *value = json_string("a\033[2Jb\nc");
    cell_for_people(value, CELL_TEXT, text);
    cr_assert_str_eq(text, "a [2Jb c");
    json_decref(value);
}

static char *written(const char *json, bool yaml)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
    cr_assert_not_null(value);
    cr_assert((yaml ? yaml_text_write : json_text_write)(out, value, NULL));
    json_decref(value);
    (void)fclose(out);
    return text;
}

Test(cli_cell, json_keeps_numbers_as_they_are)
{
    char *text =
        written("{\"a\":75.45999,\"b\":[1,9.599725e-06],\"c\":{},\"d\":\"x\\u0001\\\"\"}", false);
    cr_assert_str_eq(text, "{\n  \"a\": 75.45999,\n  \"b\": [\n    1,\n    9.599725e-06\n  ],\n"
                           "  \"c\": {},\n  \"d\": \"x\\u0001\\\"\"\n}\n");
    free(text);
}

Test(cli_cell, yaml_quotes_what_would_read_as_something_else)
{
    char *text = written("{\"n\":\"12\",\"no\":\"yes\",\"a\":\"nightly-etl\",\"f\":1.5,\"z\":null,"
                         "\"d\":\"2026-01-05\"}",
                         true);
    cr_assert_str_eq(
        text,
        "\"n\": \"12\"\n\"no\": \"yes\"\na: nightly-etl\nf: 1.5\nz: null\nd: \"2026-01-05\"\n");
    free(text);
}

static const char *csv(const char *field, bool is_text)
{
    static char text[128];
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    csv_write_field(out, field, is_text);
    (void)fclose(out);
    return text;
}

Test(cli_cell, csv_is_quoted_and_no_formula)
{
    cr_assert_str_eq(csv("plain", true), "plain");
    cr_assert_str_eq(csv("a,b", true), "\"a,b\"");
    cr_assert_str_eq(csv("say \"x\"", true), "\"say \"\"x\"\"\"");
    cr_assert_str_eq(csv("=1+1", true), "\"'=1+1\"");
    cr_assert_str_eq(csv("-15.2", false), "-15.2");
}

Test(cli_cell, paths_lead_into_objects_and_lists)
{
    json_t *value = json_loads("{\"a\":{\"b\":[1,2,{\"c\":\"x\"}]}}", 0, NULL);
    cr_assert_eq(json_number_at(value, "a.b.1", 0), 2);
    cr_assert_str_eq(json_text_at(value, "a.b.2.c", ""), "x");
    cr_assert_null(json_at(value, "a.z.2"));
    cr_assert_null(json_at(value, "a.b.9"));
    json_decref(value);
}
