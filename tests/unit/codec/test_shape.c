/* Items of a list that share their members' places, and those that do not. */
#include "codec/json/shape.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    int64_t first, second, third;
};

struct top {
    struct item *items;
    size_t n;
};

static const struct shape_member item_members[] = {
    {"first", SHAPE_COUNT(struct item, first), .flags = CODEC_REQUIRED},
    {"second", SHAPE_COUNT(struct item, second), .flags = CODEC_NULLABLE},
    {"third", SHAPE_COUNT(struct item, third)}};
static const struct shape item_shape = {SHAPE_OF(item_members, struct item)};

static const struct shape_member top_members[] = {{"items",
                                                   SHAPE_OBJECTS(struct top, items, n, &item_shape),
                                                   .flags = CODEC_REQUIRED, .most = 1000}};
static const struct shape top_shape = {SHAPE_OF(top_members, struct top)};

struct decoded {
    struct arena arena;
    struct pv_error err;
    struct top top;
    enum pv_code code;
};

static void decode(struct decoded *d, const char *text)
{
    static const struct codec_bounds bounds = {.depth = 16, .values = 1000};
    struct codec_document document;
    memset(d, 0, sizeof *d);
    arena_init(&d->arena, 0);
    d->code = codec_open(&document, text, strlen(text), &bounds, &d->arena, &d->err);
    if (d->code != PV_OK)
        return;
    shape_decode(&document.top, &top_shape, NULL, &d->top);
    d->code = codec_close(&document);
}

Test(shape, items_have_their_members_in_any_order)
{
    static const char text[] =
        "{\"items\":[{\"first\":1,\"second\":2,\"third\":3},{\"first\":4,\"second\":5,\"third\":6},"
        "{\"third\":9,\"first\":7,\"second\":8},{\"first\":10},"
        "{\"first\":11,\"second\":null,\"third\":13},{\"f\\u0069rst\":14,\"second\":15,\"third\":"
        "16},"
        "{\"first\":17,\"second\":18,\"third\":19}]}";
    static const struct item want[] = {
        {1, 2, 3},    {4, 5, 6},   {7, 8, 9}, {10, RUN_UNKNOWN, RUN_UNKNOWN}, {11, RUN_UNKNOWN, 13},
        {14, 15, 16}, {17, 18, 19}};
    enum { N = sizeof want / sizeof *want };
    struct decoded d;
    decode(&d, text);
    cr_assert_eq(d.code, PV_OK, "%s", d.err.faults[0].detail);
    cr_assert_eq(d.top.n, N);
    for (size_t i = 0; i < N; i++) {
        cr_expect_eq(d.top.items[i].first, want[i].first, "item %zu", i);
        cr_expect_eq(d.top.items[i].second, want[i].second, "item %zu", i);
        cr_expect_eq(d.top.items[i].third, want[i].third, "item %zu", i);
    }
    arena_fini(&d.arena);
}

Test(shape, each_item_has_its_own_faults)
{
    static const char text[] =
        "{\"items\":[{\"first\":1,\"secnd\":2},{\"first\":1,\"secnd\":2},{\"second\":2},{},"
        "{\"first\":1,\"second\":2},{\"first\":null,\"second\":2}]}";
    static const char *const want[] = {"/items/0/secnd", "/items/1/secnd", "/items/2/first",
                                       "/items/3/first", "/items/5/first"};
    enum { N = sizeof want / sizeof *want };
    struct decoded d;
    decode(&d, text);
    cr_assert_eq(d.code, PV_E_INVALID);
    cr_assert_eq(d.err.n_faults, N);
    for (size_t i = 0; i < N; i++)
        cr_expect_str_eq(d.err.faults[i].at, want[i]);
    arena_fini(&d.arena);
}

Test(shape, a_member_twice_in_one_item_refuses_the_text)
{
    struct decoded d;
    decode(&d, "{\"items\":[{\"first\":1,\"second\":2},{\"first\":1,\"first\":2}]}");
    cr_expect_eq(d.code, PV_E_SYNTAX);
    cr_expect_not_null(strstr(d.err.detail, "two members named \"first\""), "%s", d.err.detail);
    arena_fini(&d.arena);
}

/* All are counted; those that are kept say what may have been meant. */
Test(shape, unknown_members_beyond_those_kept_are_counted)
{
    enum { UNKNOWN = 50 };
    char text[UNKNOWN * 16 + 64];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"items\":[{\"first\":1");
    for (int i = 0; i < UNKNOWN; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ",\"second%02d\":1", i);
    (void)snprintf(text + n, sizeof text - n, "}]}");
    struct decoded d;
    decode(&d, text);
    cr_assert_eq(d.code, PV_E_INVALID);
    cr_expect_eq(d.err.n_faults, UNKNOWN);
    for (size_t i = 0; i < PV_FAULTS_MAX; i++)
        cr_expect_not_null(strstr(d.err.faults[i].detail, "did you mean second?"), "%s",
                           d.err.faults[i].detail);
    arena_fini(&d.arena);
}
