#include "codec/json/reader.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct codec_bounds bounds = {.depth = 16, .values = 1000000};

struct document {
    struct arena arena;
    struct pv_error err;
    struct codec_reader reader;
    json_t *json;
    struct codec_node top;
};

static void document_open(struct document *d, const char *text)
{
    memset(d, 0, sizeof *d);
    arena_init(&d->arena, 0);
    d->reader = (struct codec_reader){&d->arena, &d->err};
    cr_assert_eq(codec_parse(text, strlen(text), &bounds, &d->json, &d->err), PV_OK, "%s",
                 d->err.detail);
    d->top = codec_top(&d->reader, d->json);
}

static void document_close(struct document *d)
{
    json_decref(d->json);
    arena_fini(&d->arena);
}

static enum pv_code parse_code(const char *text)
{
    json_t *json = NULL;
    struct pv_error err = {0};
    enum pv_code code = codec_parse(text, strlen(text), &bounds, &json, &err);
    cr_assert_eq(code == PV_OK, json != NULL);
    json_decref(json);
    return code;
}

Test(reader, what_is_not_json_is_malformed)
{
    static const char *const wrong[] = {"",
                                        " ",
                                        "{",
                                        "{\"a\": NaN}",
                                        "{\"a\": 1e999}",
                                        "{\"a\": 99999999999999999999}",
                                        "{\"a\": 1, \"a\": 2}",
                                        "{\"a\": \"\xff\"}",
                                        "{\"a\": \"\\u0000\"}",
                                        "{} {}",
                                        "{\"a\": 01}",
                                        "{'a': 1}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_eq(parse_code(wrong[i]), PV_E_SYNTAX, "%s", wrong[i]);
    cr_assert_eq(parse_code("[1]"), PV_E_INVALID);
    cr_assert_eq(parse_code("3"), PV_E_INVALID);
    cr_assert_eq(parse_code("{}"), PV_OK);
}

Test(reader, depth_is_judged_before_anything_is_built)
{
    char text[200] = "{\"a\":";
    for (int i = 0; i < 15; i++)
        strcat(text, "[");
    char deeper[200];
    for (int i = 0; i < 15; i++)
        strcat(text, "]");
    strcat(text, "}");
    cr_assert_eq(parse_code(text), PV_OK, "16 levels are allowed");
    strcpy(deeper, "{\"b\":");
    strcat(deeper, text);
    strcat(deeper, "}");
    cr_assert_eq(parse_code(deeper), PV_E_SYNTAX, "17 are not");
    cr_assert_eq(parse_code("{\"a\": \"[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[\"}"), PV_OK,
                 "brackets in strings do not count");
}

static const struct {
    const char *text;
    const char *pointer;
    const char *code;
} faults[] = {
    {"{}", "/n", "required"},
    {"{\"n\": null}", "/n", "wrong_type"},
    {"{\"n\": \"NaN\"}", "/n", "wrong_type"},
    {"{\"n\": -1}", "/n", "out_of_range"},
    {"{\"n\": 0}", "/n", "out_of_range"},
    {"{\"n\": 11}", "/n", "out_of_range"},
    {"{\"n\": 1, \"i\": 1.5}", "/i", "wrong_type"},
    {"{\"n\": 1, \"i\": 6}", "/i", "out_of_range"},
    {"{\"n\": 1, \"name\": \"\"}", "/name", "invalid_name"},
    {"{\"n\": 1, \"name\": \"a\\u0007b\"}", "/name", "invalid_name"},
    {"{\"n\": 1, \"name\": \"a\\u0085b\"}", "/name", "invalid_name"},
    {"{\"n\": 1, \"word\": \"green\"}", "/word", "not_allowed"},
    {"{\"n\": 1, \"at\": \"yesterday\"}", "/at", "invalid_instant"},
    {"{\"n\": 1, \"id\": \"x\"}", "/id", "invalid_id"},
    {"{\"n\": 1, \"flag\": 1}", "/flag", "wrong_type"},
    {"{\"n\": 1, \"list\": [1, 2, 3, 4]}", "/list", "too_many_items"},
    {"{\"n\": 1, \"list\": [1, \"2\"]}", "/list/1", "wrong_type"},
    {"{\"n\": 1, \"labels\": {\"a\": 1}}", "/labels/a", "wrong_type"},
    {"{\"n\": 1, \"labels\": {\"a/b~c\": 1}}", "/labels/a~1b~0c", "wrong_type"},
    {"{\"n\": 1, \"what/is~this\": 1}", "/what~1is~0this", "unknown_field"},
};

static void decode(struct document *d)
{
    static const char *const known[] = {"n",  "i",    "name", "word",   "at",
                                        "id", "flag", "list", "labels", NULL};
    static const char *const words[] = {"red", "blue", NULL};
    codec_refuse_unknown(&d->top, known);
    (void)codec_number(&d->top, "n", CODEC_REQUIRED | CODEC_ABOVE, 0, 10);
    (void)codec_integer(&d->top, "i", CODEC_OPTIONAL, 0, 5);
    (void)codec_name(&d->top, "name", CODEC_OPTIONAL);
    (void)codec_choice(&d->top, "word", CODEC_OPTIONAL, words, 0);
    (void)codec_instant(&d->top, "at", CODEC_NULLABLE);
    char id[37];
    codec_uuid(&d->top, "id", CODEC_NULLABLE, id);
    (void)codec_boolean(&d->top, "flag", CODEC_OPTIONAL, false);
    struct codec_node list = codec_array(&d->top, "list", CODEC_OPTIONAL, 0, 3);
    if (list.json != NULL)
        (void)codec_as_numbers(&list, 0, 0, 100);
    struct run_label *labels;
    size_t n;
    codec_labels(&d->top, "labels", CODEC_OPTIONAL, 2, &labels, &n);
}

Test(reader, every_fault_names_its_place)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct document d;
        document_open(&d, faults[i].text);
        decode(&d);
        cr_assert_eq(codec_result(&d.reader), PV_E_INVALID, "%s", faults[i].text);
        cr_assert_eq(d.err.n_faults, 1u, "%s", faults[i].text);
        cr_assert_str_eq(d.err.faults[0].at, faults[i].pointer, "%s", faults[i].text);
        cr_assert_str_eq(d.err.faults[0].code, faults[i].code, "%s", faults[i].text);
        document_close(&d);
    }
}

Test(reader, values_arrive)
{
    struct document d;
    document_open(&d, "{\"n\": 2.5, \"i\": 4.0, \"name\": \"\xc3\xa9t\xc3\xa9\", \"word\": "
                      "\"blue\", \"at\": null, "
                      "\"list\": [1, 2.5], \"labels\": {\"b\": \"2\", \"a\": \"1\"}}");
    decode(&d);
    cr_assert_eq(codec_result(&d.reader), PV_OK);
    cr_assert_eq(codec_number(&d.top, "n", 0, 0, 10), 2.5);
    cr_assert_eq(codec_integer(&d.top, "i", 0, 0, 5), 4, "16.0 is the integer 16");
    cr_assert(isnan(codec_number(&d.top, "absent", 0, 0, 1)));
    cr_assert_eq(codec_integer(&d.top, "absent", 0, 0, 1), RUN_UNKNOWN);
    cr_assert_eq(codec_instant(&d.top, "at", CODEC_NULLABLE), RUN_NO_INSTANT);
    struct run_label *labels;
    size_t n;
    codec_labels(&d.top, "labels", 0, 2, &labels, &n);
    cr_assert_eq(n, 2u);
    cr_assert_str_eq(labels[0].key.at, "a", "sorted by key");
    document_close(&d);
}

Test(reader, faults_of_several_fields_are_told_together)
{
    struct document d;
    document_open(&d, "{\"i\": 9, \"word\": \"green\", \"more\": 1}");
    decode(&d);
    cr_assert_eq(d.err.n_faults, 4u);
    document_close(&d);
}

/* An arena that is full at the first, second, ... allocation: always an error, never a crash. */
Test(reader, running_out_of_memory_is_an_ordinary_error)
{
    size_t failures = 0;
    for (size_t limit = 1; limit < 200000; limit += 4096) {
        struct document d;
        document_open(&d, "{\"n\": 1, \"name\": \"abc\", \"list\": [1, 2, 3], \"labels\": {\"a\": "
                          "\"1\", \"b\": \"2\"}}");
        d.arena.limit = limit;
        decode(&d);
        enum pv_code code = codec_result(&d.reader);
        cr_assert(code == PV_OK || code == PV_E_MEMORY);
        failures += code == PV_E_MEMORY;
        document_close(&d);
    }
    cr_assert_gt(failures, 0u);
}

Test(reader, values_are_counted_before_anything_is_built)
{
    const struct codec_bounds few = {.depth = 16, .values = 5};
    json_t *json = NULL;
    struct pv_error err = {0};
    const char *six = "{\"a\": [1, 2, 3, 4, 5, 6]}";
    cr_assert_eq(codec_parse(six, strlen(six), &few, &json, &err), PV_E_LIMIT);
    cr_assert_not_null(strstr(err.detail, "json_values_max"));
    const char *four = "{\"a\": [1, 2, 3, \",,,,,,\"]}";
    pv_error_clear(&err);
    cr_assert_eq(codec_parse(four, strlen(four), &few, &json, &err), PV_OK);
    json_decref(json);
}

Test(reader, every_word_that_is_allowed_is_named)
{
    static const char *const words[] = {"first_of_many_words",
                                        "second_of_many_words",
                                        "third_of_many_words",
                                        "fourth_of_many_words",
                                        "fifth_of_many_words",
                                        "sixth_of_many_words",
                                        "the_last",
                                        NULL};
    struct document d;
    document_open(&d, "{\"word\": \"green\"}");
    (void)codec_choice(&d.top, "word", CODEC_REQUIRED, words, 0);
    cr_assert_eq(d.err.n_faults, 1);
    for (size_t i = 0; words[i] != NULL; i++)
        cr_expect_not_null(strstr(d.err.faults[0].detail, words[i]), "%s", d.err.faults[0].detail);
    document_close(&d);
}

/* A key that is longer than a fault's place is cut between characters. */
Test(reader, a_long_key_is_cut_between_characters)
{
    for (size_t before = 0; before < 3; before++) {
        char text[400] = "{\"";
        memset(text + 2, 'a', before);
        for (size_t i = 0; i < 150; i++)
            strcat(text, "\u00e9");
        strcat(text, "\": 1}");
        struct document d;
        document_open(&d, text);
        decode(&d);
        const char *at = d.err.faults[0].at;
        cr_expect_str_eq(d.err.faults[0].code, "unknown_field");
        cr_expect(strview_is_utf8(strview_of(at)), "%zu", before);
        cr_expect_geq(strlen(at), sizeof d.err.faults[0].at - 2);
        char pointer[64];
        struct codec_node member =
            codec_member(&d.top, json_object_iter_key(json_object_iter(d.json)));
        codec_pointer(&member, pointer, sizeof pointer);
        cr_expect(strview_is_utf8(strview_of(pointer)), "%zu", before);
        document_close(&d);
    }
}
