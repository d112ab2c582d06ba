#include "store/usage/tally.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"

TestSuite(tally, .timeout = 10);

static const char team[] = "018f3b2a-0000-7000-8000-000000000001";
static const struct tally_amounts nothing;
static const struct tally_amounts piece = {.advice = 1, .bytes = 100};
static const struct tally_amounts tens = {.advice = 10, .replies = 10, .bytes = 1 << 20};
static const uint64_t second_ns = UINT64_C(1000000000);

static bool same(struct tally_amounts a, struct tally_amounts b)
{
    return a.advice == b.advice && a.replies == b.replies && a.bytes == b.bytes;
}

static void plus(struct tally_amounts *to, struct tally_amounts more)
{
    to->advice += more.advice;
    to->replies += more.replies;
    to->bytes += more.bytes;
}

/* What a writer does: true where it had to count, which it did. *counted: the sum of that. */
static bool store(struct tally *tally,
                  const char *team_id,
                  const struct tally_amounts *more,
                  uint64_t now_ns,
                  struct tally_amounts *counted)
{
    struct tally_amounts take, owed = {0};
    if (!tally_add(tally, team_id, more, now_ns, &take, &owed))
        return false;
    tally_set_batch(tally, team_id, &tens, now_ns);
    plus(counted, take);
    return true;
}

Test(tally, the_first_is_counted_at_once_and_then_ten_together)
{
    struct tally *tally = tally_create();
    struct tally_amounts counted = {0};
    cr_assert(store(tally, team, &piece, 0, &counted));
    for (int i = 0; i < 9; i++)
        cr_assert_not(store(tally, team, &piece, 0, &counted));
    cr_assert(same(tally_pending(tally, team), (struct tally_amounts){9, 0, 900}));
    cr_assert(store(tally, team, &piece, 0, &counted));
    cr_assert(same(counted, (struct tally_amounts){11, 0, 1100}));
    cr_assert(same(tally_pending(tally, team), nothing));
    tally_destroy(tally);
}

Test(tally, any_of_the_three_that_is_due_takes_the_others_along)
{
    struct tally *tally = tally_create();
    struct tally_amounts counted = {0};
    cr_assert(store(tally, team, &piece, 0, &counted));
    cr_assert_not(store(tally, team, &piece, 0, &counted));
    cr_assert_not(store(tally, team, &(struct tally_amounts){.replies = 9}, 0, &counted));
    cr_assert(store(tally, team, &(struct tally_amounts){.bytes = 1 << 20}, 0, &counted));
    cr_assert(same(counted, (struct tally_amounts){2, 9, 200 + (1 << 20)}));
    tally_destroy(tally);
}

Test(tally, nothing_is_added_to_what_has_waited_for_five_seconds)
{
    struct tally *tally = tally_create();
    struct tally_amounts counted = {0};
    cr_assert(store(tally, team, &piece, 7, &counted));
    cr_assert_not(store(tally, team, &piece, 7 + TALLY_WAIT_S * second_ns - 1, &counted));
    cr_assert(store(tally, team, &piece, 7 + TALLY_WAIT_S * second_ns, &counted));
    cr_assert(same(counted, (struct tally_amounts){3, 0, 300}));
    tally_destroy(tally);
}

/* Over its quota: the database refuses, the transaction is undone. */
Test(tally, what_was_refused_is_as_if_it_had_not_come)
{
    struct tally *tally = tally_create();
    struct tally_amounts counted = {0}, take, owed = {0};
    const struct tally_amounts much = {.advice = 10};
    cr_assert(store(tally, team, &piece, 0, &counted));
    cr_assert_not(store(tally, team, &piece, 0, &counted));
    cr_assert(tally_add(tally, team, &much, 0, &take, &owed));
    cr_assert(same(take, (struct tally_amounts){11, 0, 100}));
    tally_undo(tally, team, &owed);
    cr_assert(same(tally_pending(tally, team), piece), "the one before waits again");
    cr_assert(tally_add(tally, team, &much, 0, &take, &(struct tally_amounts){0}),
              "and the next is asked about, too");
    tally_destroy(tally);
}

Test(tally, one_undone_later_than_others_counted_it_is_subtracted)
{
    struct tally *tally = tally_create();
    struct tally_amounts counted = {0}, take, owed = {0};
    cr_assert(store(tally, team, &piece, 0, &counted));
    cr_assert_not(tally_add(tally, team, &piece, 0, &take, &owed));
    cr_assert(store(tally, team, &tens, 0, &counted), "took the other one along");
    tally_undo(tally, team, &owed);
    cr_assert(same(tally_pending(tally, team), (struct tally_amounts){-1, 0, -100}));
    tally_destroy(tally);
}

/* Two that have the same place: it belongs to one as long as something of it waits. */
Test(tally, teams_that_share_a_place_count_each_at_once_but_for_one)
{
    struct tally *tally = tally_create();
    struct tally_amounts counted = {0}, take, owed = {0};
    size_t shared = 0;
    cr_assert(store(tally, team, &piece, 0, &counted));
    cr_assert_not(store(tally, team, &piece, 0, &counted));
    for (unsigned i = 2; i < 20000; i++) {
        char other[37];
        (void)snprintf(other, sizeof other, "018f3b2a-0000-7000-8000-%012u", i);
        cr_assert(tally_add(tally, other, &piece, 0, &take, &owed));
        cr_assert(same(take, piece));
        tally_set_batch(tally, other, &tens, 0);
        if (!tally_add(tally, other, &piece, 0, &take, &owed)) {
            cr_assert(tally_add(tally, other, &tens, 0, &take, &owed)); /* empties the place */
            continue;
        }
        shared++;
        cr_assert(same(take, piece), "of the other team nothing is taken along");
        cr_assert(same(tally_pending(tally, other), nothing));
    }
    cr_assert_gt(shared, 0u);
    cr_assert_lt(shared, 100u, "of 1,024 places one is shared");
    cr_assert(same(tally_pending(tally, team), piece));
    cr_assert(same(owed, nothing), "what has been counted is not owed");
    tally_destroy(tally);
}

/* Whatever is stored, refused, undone: what was counted and what waits are what there is. */
Test(tally, nothing_is_lost_or_counted_twice)
{
    enum { TEAMS = 3 };
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct rng rng = rng_make(seed, 0);
        struct tally *tally = tally_create();
        struct tally_amounts counted[TEAMS] = {{0}}, stored[TEAMS] = {{0}};
        uint64_t now_ns = 0;
        for (size_t i = 0; i < 2000; i++) {
            size_t t = rng_next(&rng) % TEAMS;
            char id[37];
            (void)snprintf(id, sizeof id, "018f3b2a-0000-7000-8000-%012zu", t);
            struct tally_amounts more = {.advice = (int64_t)(rng_next(&rng) % 3),
                                         .replies = (int64_t)(rng_next(&rng) % 3),
                                         .bytes = (int64_t)(rng_next(&rng) % 5000)};
            struct tally_amounts take, owed = {0};
            bool undone = rng_next(&rng) % 4 == 0;
            now_ns += rng_next(&rng) % second_ns;
            bool due = tally_add(tally, id, &more, now_ns, &take, &owed);
            if (due && !undone)
                plus(&counted[t], take), tally_set_batch(tally, id, &tens, now_ns);
            if (undone)
                tally_undo(tally, id, &owed);
            else
                plus(&stored[t], more);
            struct tally_amounts sum = counted[t];
            plus(&sum, tally_pending(tally, id));
            cr_assert(same(sum, stored[t]), "seed %zu, step %zu", (size_t)seed, i);
        }
        tally_destroy(tally);
    }
}
