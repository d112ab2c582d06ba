#include "core/geo/performance_book.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/history/run.h"

static const int64_t NOW = INT64_C(1700000000000000);
static struct arena arena;
static struct pv_error err;

static void open_arena(void)
{
    arena_init(&arena, 0);
}
static void close_arena(void)
{
    arena_fini(&arena);
}
TestSuite(performance_book, .init = open_arena, .fini = close_arena);

#define TEXT(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

/* Three of type big (one of them alone in being measured), one of type small, one of none. */
static const struct performance_place places[] = {
    {.id = "a", .machine_type = TEXT("big"), .configured = (double)NAN, .slot_s = 1},
    {.id = "b", .machine_type = TEXT("big"), .configured = 0.25, .slot_s = 1},
    {.id = "c", .machine_type = TEXT("small"), .configured = (double)NAN, .slot_s = 1},
    {.id = "", .machine_type = {NULL, 0}, .configured = (double)NAN, .slot_s = 1}};
static const struct strview operations[] = {TEXT("map"), TEXT("join")};

static struct performance_ask ask_all(void)
{
    return (struct performance_ask){.places = places,
                                    .n_places = 4,
                                    .operations = operations,
                                    .n_operations = 2,
                                    .terms = {.half_life_s = 3600, .points = 8},
                                    .outage_half_life_s = 86400,
                                    .prior = {2592000, 600, 604800},
                                    .now_us = NOW};
}

static struct performance observe(double value, size_t n, int64_t at_us)
{
    const struct performance_terms terms = {.half_life_s = 3600, .points = 8};
    const struct performance_sample sample = {at_us, value};
    struct performance made;
    performance_init(&made);
    for (size_t i = 0; i < n; i++)
        performance_add(&made, &terms, &sample);
    return made;
}

static void expect_entry(const struct performance_entry *entry,
                         enum performance_source source,
                         double mean,
                         int64_t samples)
{
    cr_expect_eq(entry->source, source, "from %s", performance_source_name(entry->source));
    cr_expect_float_eq(entry->speeds.mean, mean, 1e-6 * mean + 1e-12);
    cr_expect_eq(entry->samples, samples);
}

Test(performance_book, own_then_type_then_pool_then_none)
{
    struct performance_ask ask = ask_all();
    struct performance_book *book = performance_book_open(&ask, &arena);
    const struct performance of_a = observe(100, 3, NOW);
    const struct performance of_c = observe(10, 1, NOW);
    cr_assert_not_null(book);
    cr_assert_eq(performance_book_add_processing(book, 0, 0, &of_a, &err), PV_OK);
    cr_assert_eq(performance_book_add_processing(book, 2, 0, &of_c, &err), PV_OK);
    cr_assert(performance_book_lacks_processing(book, 0));
    const struct strview big = TEXT("big");
    const struct strview small = TEXT("small");
    cr_assert_eq(performance_book_pool_processing(book, 0, big, &of_a, &err), PV_OK);
    cr_assert_eq(performance_book_pool_processing(book, 0, small, &of_c, &err), PV_OK);
    cr_assert_eq(performance_book_close(book, &err), PV_OK);
    expect_entry(performance_book_processing(book, 0, 0), PERFORMANCE_CLUSTER, 100, 3);
    expect_entry(performance_book_processing(book, 1, 0), PERFORMANCE_MACHINE_TYPE, 100, 3);
    expect_entry(performance_book_processing(book, 2, 0), PERFORMANCE_CLUSTER, 10, 1);
    expect_entry(performance_book_processing(book, 3, 0), PERFORMANCE_TEAM, 77.5, 4);
    expect_entry(performance_book_processing(book, 0, 1), PERFORMANCE_NONE, 0, 0);
    cr_expect_eq(performance_book_processing(book, 0, 1)->newest_us, RUN_NO_INSTANT);
    cr_expect_float_eq(performance_book_processing(book, 0, 0)->weight, 3, 1e-9);
}

Test(performance_book, pairs_fall_back_on_the_pair_of_types)
{
    struct performance_ask ask = ask_all();
    struct performance_book *book = performance_book_open(&ask, &arena);
    const struct performance ac = observe(50, 2, NOW);
    const struct performance ca = observe(5, 2, NOW);
    const struct strview big = TEXT("big");
    const struct strview small = TEXT("small");
    cr_assert_eq(performance_book_add_transfer(book, 0, 2, &ac, &err), PV_OK);
    cr_assert(performance_book_lacks_transfers(book));
    cr_assert_eq(performance_book_pool_transfer(book, big, small, &ac, &err), PV_OK);
    cr_assert_eq(performance_book_pool_transfer(book, small, big, &ca, &err), PV_OK);
    cr_assert_eq(performance_book_close(book, &err), PV_OK);
    expect_entry(performance_book_transfer(book, 0, 2), PERFORMANCE_CLUSTER, 50, 2);
    expect_entry(performance_book_transfer(book, 1, 2), PERFORMANCE_MACHINE_TYPE, 50, 2);
    expect_entry(performance_book_transfer(book, 2, 1), PERFORMANCE_MACHINE_TYPE, 5, 2);
    expect_entry(performance_book_transfer(book, 0, 1), PERFORMANCE_TEAM, 27.5, 4);
    expect_entry(performance_book_transfer(book, 3, 2), PERFORMANCE_TEAM, 27.5, 4);
    expect_entry(performance_book_transfer(book, 1, 1), PERFORMANCE_NONE, 0, 0);
}

Test(performance_book, who_sends_nothing_is_not_looked_up)
{
    struct performance_ask ask = ask_all();
    const bool sends[] = {true, false, false, false};
    ask.sends = sends;
    struct performance_book *book = performance_book_open(&ask, &arena);
    const struct performance seen = observe(50, 1, NOW);
    for (size_t to = 1; to < 4; to++)
        cr_assert_eq(performance_book_add_transfer(book, 0, to, &seen, &err), PV_OK);
    cr_expect_not(performance_book_lacks_transfers(book));
    cr_assert_eq(performance_book_close(book, &err), PV_OK);
    expect_entry(performance_book_transfer(book, 0, 3), PERFORMANCE_CLUSTER, 50, 1);
    expect_entry(performance_book_transfer(book, 1, 0), PERFORMANCE_NONE, 0, 0);
}

Test(performance_book, what_is_forgotten_is_not_known)
{
    struct performance_ask ask = ask_all();
    struct performance_book *book = performance_book_open(&ask, &arena);
    const struct performance old = observe(100, 1, NOW - INT64_C(40000000000));
    const struct performance young = observe(7, 1, NOW);
    const struct strview small = TEXT("small");
    cr_assert_eq(performance_book_add_processing(book, 0, 0, &old, &err), PV_OK);
    cr_assert_eq(performance_book_pool_processing(book, 0, places[0].machine_type, &old, &err),
                 PV_OK);
    cr_assert_eq(performance_book_pool_processing(book, 0, small, &young, &err), PV_OK);
    cr_assert_eq(performance_book_close(book, &err), PV_OK);
    expect_entry(performance_book_processing(book, 0, 0), PERFORMANCE_TEAM, 7, 1);
}

Test(performance_book, unreachability_is_told_measured_or_the_priors)
{
    struct performance_ask ask = ask_all();
    struct performance_book *book = performance_book_open(&ask, &arena);
    const struct outage outage = {NOW - INT64_C(7200000000), NOW - INT64_C(3600000000)};
    const int64_t first = NOW - INT64_C(86400000000);
    performance_book_add_outages(book, 0, &outage, 1, first, NOW);
    performance_book_add_outages(book, 1, &outage, 1, first, NOW);
    cr_assert_eq(performance_book_close(book, &err), PV_OK);
    const struct unreachable_entry *a = performance_book_unreachable(book, 0);
    const struct unreachable_entry *b = performance_book_unreachable(book, 1);
    const struct unreachable_entry *c = performance_book_unreachable(book, 2);
    cr_expect_eq(a->source, UNREACHABLE_MEASURED);
    cr_expect_eq(b->source, UNREACHABLE_CONFIGURED);
    cr_expect_eq(b->probability, 0.25);
    cr_expect_eq(b->measured.probability, a->probability);
    cr_expect_eq(c->source, UNREACHABLE_PRIOR);
    cr_expect_gt(a->probability, c->probability);
    cr_expect_str_eq(unreachable_source_name(c->source), "prior");
}

Test(performance_book, one_without_clusters_or_operations_is_empty)
{
    struct performance_ask ask = ask_all();
    ask.n_places = 0;
    ask.n_operations = 0;
    struct performance_book *book = performance_book_open(&ask, &arena);
    cr_assert_not_null(book);
    cr_expect_not(performance_book_lacks_transfers(book));
    cr_expect_eq(performance_book_close(book, &err), PV_OK);
}

Test(performance_book, running_out_of_memory_is_told)
{
    struct performance_ask ask = ask_all();
    struct arena small;
    arena_init(&small, 64);
    cr_expect_null(performance_book_open(&ask, &small));
    arena_fini(&small);
}
