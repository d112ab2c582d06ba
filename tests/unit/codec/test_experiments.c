#include "codec/models/experiments.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"

/* The one item, as its JSON text in the arena. */
static const char *encode(const struct experiment *item, double price, struct arena *arena)
{
    struct experiment items[] = {*item};
    const struct experiments_plan plan = {.items = items, .n = 1, .runs = item->repeat};
    const struct codec_experiments experiments = {.plan = &plan, .billing = {.per_hour = price}};
    struct writer w;
    size_t n;
    writer_init(&w, arena);
    codec_experiments_encode_items(&w, &experiments);
    const char *text = writer_finish(&w, &n);
    cr_assert_not_null(text);
    return text;
}

static bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* Interpolation has no effects by which a time could be uncertain. */
Test(codec_experiments, no_sentence_has_a_number_that_is_none)
{
    struct arena arena;
    arena_init(&arena, 0);
    const struct experiment known = {
        .at = {64, 16}, .reason = EXPERIMENTS_WIDENS, .repeat = 1, .uncertainty_percent = 9.2};
    struct experiment unknown = known;
    unknown.uncertainty_percent = (double)NAN;
    cr_expect(contains(encode(&known, (double)NAN, &arena), "uncertain by 9.2 %"));
    cr_expect(contains(encode(&unknown, (double)NAN, &arena), "Beyond what was measured."));
    cr_expect_not(contains(encode(&unknown, (double)NAN, &arena), "nan"));
    arena_fini(&arena);
}

/* Executor seconds and cost are of all runs of an item, the time is of one. */
Test(codec_experiments, cost_is_that_of_all_repetitions)
{
    struct arena arena;
    arena_init(&arena, 0);
    const struct experiment item = {.at = {64, 16},
                                    .reason = EXPERIMENTS_MOST_FOR_COST,
                                    .repeat = 3,
                                    .duration_s = 75,
                                    .executor_s = 3600};
    const char *text = encode(&item, 0.5, &arena);
    cr_expect(contains(text, "\"repeat\":3,\"predicted_duration_s\":75"));
    cr_expect(contains(text, "\"executor_s\":3600"));
    cr_expect(contains(text, "\"cost\":0.5"));
    arena_fini(&arena);
}
