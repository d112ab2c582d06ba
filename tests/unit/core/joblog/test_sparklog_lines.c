/* Lines out of pieces: the same lines whatever the pieces, and limits that hold. */
#include "core/joblog/common/lines.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/joblog/common/idmap.h"

struct seen {
    char text[256];
    size_t too_long;
};

static enum pv_code take(void *context, struct strview line, struct pv_error *err)
{
    (void)err;
    struct seen *seen = context;
    size_t n = strlen(seen->text);
    (void)snprintf(seen->text + n, sizeof seen->text - n, "[%.*s]", (int)line.n, line.at);
    return PV_OK;
}

static void drop(void *context)
{
    struct seen *seen = context;
    seen->too_long++;
}

static struct seen feed(const char *bytes, size_t piece, size_t longest)
{
    struct budget budget = {.limit = 1024};
    struct lines lines = {.longest = longest};
    struct seen seen = {"", 0};
    struct lines_sink sink = {take, drop, &seen};
    size_t n = strlen(bytes);
    for (size_t at = 0; at < n; at += piece) {
        size_t some = n - at < piece ? n - at : piece;
        cr_assert_eq(lines_feed(&lines, &budget, bytes + at, some, &sink, NULL), PV_OK);
    }
    cr_assert_eq(lines_finish(&lines, &sink, NULL), PV_OK);
    lines_fini(&lines, &budget);
    cr_assert_eq(budget.used, 0);
    return seen;
}

Test(sparklog_lines, pieces_make_no_difference)
{
    for (size_t piece = 1; piece < 20; piece++) {
        struct seen seen = feed("one\n\ntwo three\nlast", piece, 9);
        cr_assert_str_eq(seen.text, "[one][][two three][last]");
        cr_assert_eq(seen.too_long, 0);
    }
}

Test(sparklog_lines, longer_lines_are_dropped_and_counted_once)
{
    for (size_t piece = 1; piece < 40; piece++) {
        struct seen seen =
            feed("ok\n12345678\n123456789\n1234567890123456789\nok\n1234567890", piece, 8);
        cr_assert_str_eq(seen.text, "[ok][12345678][ok]");
        cr_assert_eq(seen.too_long, 3);
    }
}

Test(sparklog_lines, a_line_may_not_take_more_than_the_budget)
{
    struct budget budget = {.limit = 64};
    struct lines lines = {.longest = 1000};
    struct seen seen = {"", 0};
    struct lines_sink sink = {take, drop, &seen};
    char bytes[65];
    memset(bytes, 'x', sizeof bytes);
    cr_assert_eq(lines_feed(&lines, &budget, bytes, 64, &sink, NULL), PV_OK);
    cr_assert_eq(lines_feed(&lines, &budget, bytes, 1, &sink, NULL), PV_E_LIMIT);
    lines_fini(&lines, &budget);
}

Test(sparklog_idmap, finds_what_was_inserted_and_nothing_else)
{
    struct budget budget = {.limit = 1 << 22};
    struct idmap map = {NULL, 0, 0};
    for (int64_t key = -3000; key < 3000; key += 3)
        cr_assert_eq(idmap_insert(&map, &budget, key, (uint32_t)(key + 3000), NULL), PV_OK);
    for (int64_t key = -3000; key < 3000; key++) {
        const uint32_t *value = idmap_find(&map, key);
        cr_assert_eq(value != NULL, key % 3 == 0, "%d", (int)key);
        if (value != NULL)
            cr_assert_eq(*value, (uint32_t)(key + 3000));
    }
    idmap_fini(&map, &budget);
    cr_assert_eq(budget.used, 0);
}

/* Keys come and go; at every step those that are there are found, and no others. */
Test(sparklog_idmap, what_is_removed_is_gone_and_all_else_stays)
{
    enum { KEYS = 500 };
    struct budget budget = {.limit = 1 << 22};
    struct idmap map = {NULL, 0, 0};
    static bool there[KEYS];
    uint64_t random = 1;
    for (int step = 0; step < 5000; step++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        int64_t key = (int64_t)(random >> 33) % KEYS;
        if (there[key])
            idmap_remove(&map, key * key);
        else
            cr_assert_eq(idmap_insert(&map, &budget, key * key, (uint32_t)key, NULL), PV_OK);
        there[key] = !there[key];
        for (int64_t k = 0; k < KEYS; k++) {
            const uint32_t *value = idmap_find(&map, k * k);
            cr_assert_eq(value != NULL, there[k]);
            cr_assert(value == NULL || *value == (uint32_t)k);
        }
    }
    idmap_fini(&map, &budget);
}

Test(sparklog_idmap, ends_at_the_budget)
{
    struct budget budget = {.limit = 10000};
    struct idmap map = {NULL, 0, 0};
    enum pv_code code = PV_OK;
    int64_t key = 0;
    while (code == PV_OK && key < 10000)
        code = idmap_insert(&map, &budget, key++, 0, NULL);
    cr_assert_eq(code, PV_E_LIMIT);
    cr_assert_leq(budget.used, budget.limit);
    cr_assert_not_null(idmap_find(&map, 0), "what is in stays in");
    idmap_fini(&map, &budget);
}
