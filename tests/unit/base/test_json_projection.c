/* Parts of JSON texts: what stays, byte for byte, and what is no JSON. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/json_projection.h"

#define NAME(text_) .name = {(text_), sizeof(text_) - 1}

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(json_projection, .init = setup, .fini = teardown);

static void expect(const char *json, const struct json_selection *selection, const char *part)
{
    struct strview out;
    cr_assert(json_project(strview_of(json), selection, &arena, &out), "%s", json);
    cr_assert_str_eq(out.at, part);
    cr_assert_eq(out.n, strlen(part));
}

/* a.x, b */
static struct json_selection x = {NAME("x")};
static struct json_selection b = {NAME("b")};
static struct json_selection a_x_and_b = {NAME("a"), .next = &b, .within = &x};

Test(json_projection, keeps_the_selected_members_in_the_order_of_the_text)
{
    expect("{\"b\":1.50,\"c\":{\"b\":2},\"a\":{\"y\":1,\"x\":[1,2]}}", &a_x_and_b,
           "{\"b\":1.50,\"a\":{\"x\":[1,2]}}");
    expect("{\"c\":1}", &a_x_and_b, "{}");
    expect("{}", &a_x_and_b, "{}");
}

Test(json_projection, maps_over_lists)
{
    expect("{\"a\":[{\"x\":1,\"y\":2},{\"y\":3},null,4,[{\"x\":5,\"z\":6}],[]]}", &a_x_and_b,
           "{\"a\":[{\"x\":1},{},null,4,[{\"x\":5}],[]]}");
    expect("[{\"b\":1,\"c\":2}]", &a_x_and_b, "[{\"b\":1}]");
}

Test(json_projection, what_has_no_members_stays_whole)
{
    expect("{\"a\":null,\"b\":true}", &a_x_and_b, "{\"a\":null,\"b\":true}");
    expect("{\"a\":\"text\"}", &a_x_and_b, "{\"a\":\"text\"}");
    expect("12", &a_x_and_b, "12");
}

Test(json_projection, strings_hide_what_they_hold)
{
    expect("{\"c\":\"}],\\\"b\\\":1,{[\",\"b\":\"\\\\\",\"d\":\"\\\\\"}", &a_x_and_b,
           "{\"b\":\"\\\\\"}");
    expect("{\"\\u0062\":1,\"b\":2}", &a_x_and_b, "{\"b\":2}");
}

Test(json_projection, white_space_between_is_not_kept)
{
    expect(" { \"c\" : [ 1 , { } ] ,\n\t\"b\" : -1e3 , \"a\" : [ { \"x\" : { \"k\": 1 } } , 2 ] } ",
           &a_x_and_b, "{\"b\":-1e3,\"a\":[{\"x\":{ \"k\": 1 }},2]}");
}

Test(json_projection, a_selection_without_a_name_takes_the_rest)
{
    struct json_selection rest = {.within = NULL};
    const struct json_selection page = {NAME("items"), .next = &rest, .within = &b};
    expect("{\"count\":7,\"items\":[{\"b\":1,\"c\":2}],\"next_cursor\":null}", &page,
           "{\"count\":7,\"items\":[{\"b\":1}],\"next_cursor\":null}");
}

Test(json_projection, long_values_are_skipped_however_deep_they_nest)
{
    enum { DEPTH = 100000 };
    char *json = arena_alloc(&arena, 2 * DEPTH + 32);
    size_t n = (size_t)sprintf(json, "{\"c\":");
    memset(json + n, '[', DEPTH);
    memset(json + n + DEPTH, ']', DEPTH);
    strcpy(json + n + 2 * DEPTH, ",\"b\":1}");
    expect(json, &a_x_and_b, "{\"b\":1}");
    strcpy(json, "{\"a\":");
    memset(json + 5, '[', DEPTH);
    memset(json + 5 + DEPTH, ']', DEPTH);
    strcpy(json + 5 + 2 * DEPTH, "}");
    expect(json, &a_x_and_b, json);
}

Test(json_projection, what_is_no_json_is_refused)
{
    static const char *const broken[] = {
        "",           "{",     "{\"b\"",    "{\"b\":",   "{\"b\":1",   "{\"b\":1,}",
        "{\"b\":1}x", "{b:1}", "{\"c\":[1", "{\"c\":\"", "[{\"b\":1}", "{\"b\":\"x\\"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct strview out;
        cr_expect_not(json_project(strview_of(broken[i]), &a_x_and_b, &arena, &out), "%s",
                      broken[i]);
    }
}
