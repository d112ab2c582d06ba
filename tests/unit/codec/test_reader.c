#include "codec/json/reader.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duty.h"
#include "codec/json/names.h"

static const struct codec_bounds bounds = {.depth = 16, .values = 1000000};

struct bench {
    struct arena arena;
    struct pv_error err;
    struct codec_document document;
};

static void bench_open(struct bench *b, const char *text)
{
    memset(b, 0, sizeof *b);
    arena_init(&b->arena, 0);
    cr_assert_eq(codec_open(&b->document, text, strlen(text), &bounds, &b->arena, &b->err), PV_OK,
                 "%s", b->err.detail);
}

static void bench_close(struct bench *b)
{
    cr_expect_eq(codec_close(&b->document), b->err.code);
    arena_fini(&b->arena);
}

/* Read, and no more. */
static enum pv_code
parse(const char *text, size_t n, const struct codec_bounds *most, struct pv_error *err)
{
    struct arena arena;
    arena_init(&arena, 0);
    pv_error_clear(err);
    struct codec_document document;
    enum pv_code code = codec_open(&document, text, n, most, &arena, err);
    if (code == PV_OK)
        cr_assert_eq(codec_close(&document), PV_OK);
    arena_fini(&arena);
    return code;
}

static enum pv_code parse_code(const char *text)
{
    struct pv_error err;
    return parse(text, strlen(text), &bounds, &err);
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

static void decode(struct bench *b)
{
    static const char *const known[] = {"n",  "i",    "name", "word",   "at",
                                        "id", "flag", "list", "labels", NULL};
    static const char *const words[] = {"red", "blue", NULL};
    codec_refuse_unknown(&b->document.top, known);
    (void)codec_number(&b->document.top, "n", CODEC_REQUIRED | CODEC_ABOVE, 0, 10);
    (void)codec_integer(&b->document.top, "i", CODEC_OPTIONAL, 0, 5);
    (void)codec_name(&b->document.top, "name", CODEC_OPTIONAL);
    (void)codec_choice(&b->document.top, "word", CODEC_OPTIONAL, words, 0);
    (void)codec_instant(&b->document.top, "at", CODEC_NULLABLE);
    char id[37];
    codec_uuid(&b->document.top, "id", CODEC_NULLABLE, id);
    (void)codec_boolean(&b->document.top, "flag", CODEC_OPTIONAL, false);
    struct codec_node list = codec_array(&b->document.top, "list", CODEC_OPTIONAL, 0, 3);
    if (list.json != NULL)
        (void)codec_as_numbers(&list, 0, 0, 100);
    struct run_label *labels;
    size_t n;
    codec_labels(&b->document.top, "labels", CODEC_OPTIONAL, 2, &labels, &n);
}

Test(reader, every_fault_names_its_place)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct bench b;
        bench_open(&b, faults[i].text);
        decode(&b);
        cr_assert_eq(codec_result(&b.document.reader), PV_E_INVALID, "%s", faults[i].text);
        cr_assert_eq(b.err.n_faults, 1u, "%s", faults[i].text);
        cr_assert_str_eq(b.err.faults[0].at, faults[i].pointer, "%s", faults[i].text);
        cr_assert_str_eq(b.err.faults[0].code, faults[i].code, "%s", faults[i].text);
        bench_close(&b);
    }
}

Test(reader, values_arrive)
{
    struct bench b;
    bench_open(&b, "{\"n\": 2.5, \"i\": 4.0, \"name\": \"\xc3\xa9t\xc3\xa9\", \"word\": "
                   "\"blue\", \"at\": null, "
                   "\"list\": [1, 2.5], \"labels\": {\"b\": \"2\", \"a\": \"1\"}}");
    decode(&b);
    cr_assert_eq(codec_result(&b.document.reader), PV_OK);
    cr_assert_eq(codec_number(&b.document.top, "n", 0, 0, 10), 2.5);
    cr_assert_eq(codec_integer(&b.document.top, "i", 0, 0, 5), 4, "16.0 is the integer 16");
    cr_assert(isnan(codec_number(&b.document.top, "absent", 0, 0, 1)));
    cr_assert_eq(codec_integer(&b.document.top, "absent", 0, 0, 1), RUN_UNKNOWN);
    cr_assert_eq(codec_instant(&b.document.top, "at", CODEC_NULLABLE), RUN_NO_INSTANT);
    struct run_label *labels;
    size_t n;
    codec_labels(&b.document.top, "labels", 0, 2, &labels, &n);
    cr_assert_eq(n, 2u);
    cr_assert_str_eq(labels[0].key.at, "a", "sorted by key");
    bench_close(&b);
}

Test(reader, faults_of_several_fields_are_told_together)
{
    struct bench b;
    bench_open(&b, "{\"i\": 9, \"word\": \"green\", \"more\": 1}");
    decode(&b);
    cr_assert_eq(b.err.n_faults, 4u);
    bench_close(&b);
}

/* An arena that is full at the first, second, ... allocation: always an error, never a crash. */
Test(reader, running_out_of_memory_is_an_ordinary_error)
{
    size_t failures = 0;
    for (size_t limit = 1; limit < 200000; limit += 4096) {
        struct bench b;
        bench_open(&b, "{\"n\": 1, \"name\": \"abc\", \"list\": [1, 2, 3], \"labels\": {\"a\": "
                       "\"1\", \"b\": \"2\"}}");
        b.arena.limit = limit;
        decode(&b);
        enum pv_code code = codec_result(&b.document.reader);
        cr_assert(code == PV_OK || code == PV_E_MEMORY);
        failures += code == PV_E_MEMORY;
        bench_close(&b);
    }
    cr_assert_gt(failures, 0u);
}

Test(reader, values_are_counted_before_anything_is_built)
{
    const struct codec_bounds few = {.depth = 16, .values = 5};
    struct pv_error err;
    const char *six = "{\"a\": [1, 2, 3, 4, 5, 6]}";
    cr_assert_eq(parse(six, strlen(six), &few, &err), PV_E_LIMIT);
    cr_assert_not_null(strstr(err.detail, "json_values_max"));
    const char *four = "{\"a\": [1, 2, 3, \",,,,,,\"]}";
    cr_assert_eq(parse(four, strlen(four), &few, &err), PV_OK);
}

/* Shapes of large documents: `item` again and again between the others. */
static const struct {
    const char *before, *item, *rest, *after; /* rest: of an item after its number */
    size_t times;
} shapes[] = {
    {"{\"a\":[", "{\"\":0},", NULL, "0]}", 20000},
    {"{\"a\":[", "{},", NULL, "0]}", 20000},
    {"{\"a\":[", "[],", NULL, "0]}", 20000},
    {"{\"a\":[", "1.25,", NULL, "0]}", 50000},
    {"{\"a\":[", "\"\",", NULL, "0]}", 50000},
    {"{\"a\":[", "{\"name\":\"a\",\"duration_s\":1.5,\"stages\":[1,2,3]},", NULL, "0]}", 5000},
    {"{\"a\":[", "{\"b\":{\"c\":{\"d\":[[[]]]}}},", NULL, "0]}", 5000},
    {"{\"a\":\"", "text and more of it, ", NULL, "\"}", 50000},
    {"{\"a\":{", "\"", "\":0,", "\"\":0}}", 50000},
    {"{\"a\":[", "{\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":0},", NULL,
     "0]}", 5000},
};

static size_t write_shape(size_t which, char *text, size_t room)
{
    size_t n = (size_t)snprintf(text, room, "%s", shapes[which].before);
    for (size_t i = 0; i < shapes[which].times; i++)
        n += shapes[which].rest == NULL
                 ? (size_t)snprintf(text + n, room - n, "%s", shapes[which].item)
                 : (size_t)snprintf(text + n, room - n, "%s%zu%s", shapes[which].item, i,
                                    shapes[which].rest);
    return n + (size_t)snprintf(text + n, room - n, "%s", shapes[which].after);
}

/* So that nothing is begun for which there is no memory, and what is taken is wanted. */
Test(reader, a_tree_is_estimated_before_it_is_built)
{
    const size_t room = 2000000;
    char *text = malloc(room);
    cr_assert_not_null(text);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t n = write_shape(i, text, room);
        struct ledger ledger = {.max = SIZE_MAX / 8};
        struct ledger_share share = {.ledger = &ledger};
        struct ledger_account account = {.share = &share};
        struct pv_error err = {0};
        struct arena arena;
        struct codec_document document;
        arena_init(&arena, 0);
        arena.account = &account;
        cr_assert_eq(codec_open(&document, text, n, &bounds, &arena, &err), PV_OK, "%zu", i);
        const size_t taken = account.used;
        cr_expect_geq(taken, document.tree.total, "%zu", i);
        cr_expect_eq(codec_close(&document), PV_OK);
        cr_expect_eq(account.used, 0u, "%zu", i);
        ledger.max = 1;
        cr_expect_eq(codec_open(&document, text, n, &bounds, &arena, &err), PV_E_MEMORY, "%zu", i);
        cr_expect(account.refused && account.used == 0);
        const size_t step = (size_t)1 << 22; /* of the arena */
        cr_expect(account.wanted + step > taken && account.wanted < 2 * taken + step,
                  "%zu: %zu estimated, %zu taken", i, account.wanted, taken);
        arena_fini(&arena);
    }
    free(text);
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
    struct bench b;
    bench_open(&b, "{\"word\": \"green\"}");
    (void)codec_choice(&b.document.top, "word", CODEC_REQUIRED, words, 0);
    cr_assert_eq(b.err.n_faults, 1);
    for (size_t i = 0; words[i] != NULL; i++)
        cr_expect_not_null(strstr(b.err.faults[0].detail, words[i]), "%s", b.err.faults[0].detail);
    bench_close(&b);
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
        struct bench b;
        bench_open(&b, text);
        decode(&b);
        const char *at = b.err.faults[0].at;
        cr_expect_str_eq(b.err.faults[0].code, "unknown_field");
        cr_expect(strview_is_utf8(strview_of(at)), "%zu", before);
        cr_expect_geq(strlen(at), sizeof b.err.faults[0].at - 2);
        char pointer[64];
        struct codec_node member = codec_member_at(&b.document.top, 0);
        codec_pointer(&member, pointer, sizeof pointer);
        cr_expect(strview_is_utf8(strview_of(pointer)), "%zu", before);
        bench_close(&b);
    }
}

static size_t pauses;

static void count_pause(void)
{
    pauses++;
}

/* Nobody who wants the core waits for the end of a long document, scanned or built. */
Test(reader, a_long_document_is_read_with_pauses)
{
    enum { VALUES = 200000 };
    char *text = malloc(2 * VALUES + 16);
    size_t n = (size_t)sprintf(text, "{\"a\":[1");
    for (size_t i = 1; i < VALUES; i++, n += 2)
        memcpy(text + n, ",1", 2);
    memcpy(text + n, "]}", 3);
    struct pv_error err;
    struct codec_bounds few = bounds;
    duty_set_pause(count_pause);
    few.values = VALUES - 1;
    cr_assert_eq(parse(text, n + 2, &few, &err), PV_E_LIMIT);
    cr_assert_geq(pauses, n >> 17);
    size_t scanned = pauses;
    cr_assert_eq(parse(text, n + 2, &bounds, &err), PV_OK, "%s", err.detail);
    cr_assert_geq(pauses, 2 * scanned + VALUES / 10000);
    free(text);
}

/* Alike: of one length, and the same at both ends, so that they meet in a table. */
static size_t name_alike(char names[][32], struct strview views[], size_t n, bool alike)
{
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(names[i], sizeof names[i], alike ? "beginning-%03zu-the-end" : "%zu", i);
        views[i] = strview_of(names[i]);
    }
    return n;
}

Test(reader, names_that_are_there_twice_are_faults_at_the_later_one)
{
    enum { NAMES = 200 };
    static char names[NAMES][32];
    struct strview views[NAMES];
    for (int alike = 0; alike < 2; alike++) {
        for (size_t n = 1; n <= NAMES; n += n < 8 ? 1 : 37) {
            struct bench b;
            bench_open(&b, "{}");
            codec_refuse_same_names(&b.document.top, views, name_alike(names, views, n, alike),
                                    "twice");
            cr_assert_eq(b.err.n_faults, 0, "%zu names", n);
            for (size_t twice = 0; twice + 1 < n; twice += n < 8 ? 1 : 53) {
                char at[32];
                (void)name_alike(names, views, n, alike);
                views[n - 1] = strview_of(names[twice]);
                pv_error_clear(&b.err);
                codec_refuse_same_names(&b.document.top, views, n, "twice");
                (void)snprintf(at, sizeof at, "/%zu/name", n - 1);
                cr_assert_eq(b.err.n_faults, 1, "%zu of %zu", twice, n);
                cr_assert_str_eq(b.err.faults[0].at, at);
                cr_assert_str_eq(b.err.faults[0].code, "duplicate");
            }
            bench_close(&b);
        }
    }
}

Test(reader, ids_that_are_there_twice_are_faults_and_unknown_ones_are_not)
{
    struct bench b;
    const int64_t ids[] = {7, -1, 3, INT64_MAX, 0, -1, 7, 3, 7};
    bench_open(&b, "{}");
    codec_refuse_same_ids(&b.document.top, ids, 6, "twice");
    cr_assert_eq(b.err.n_faults, 0);
    codec_refuse_same_ids(&b.document.top, ids, sizeof ids / sizeof *ids, "twice");
    cr_assert_eq(b.err.n_faults, 3);
    cr_expect_str_eq(b.err.faults[0].at, "/7/id");
    cr_expect_str_eq(b.err.faults[1].at, "/6/id");
    cr_expect_str_eq(b.err.faults[2].at, "/8/id");
    bench_close(&b);
}
