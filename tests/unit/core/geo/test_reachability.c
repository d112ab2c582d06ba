#include "core/geo/reachability.h"

#include <criterion/criterion.h>
#include <math.h>

static const int64_t S = INT64_C(1000000);
static const int64_t DAY = 86400;
static const struct reachability_prior PRIOR = {
    .mean_time_between_outages_s = 30.0 * 86400, .mean_outage_s = 600, .weight_s = 7.0 * 86400};

static void expect_near(double got, double want, double tolerance, const char *what)
{
    cr_expect(fabs(got - want) <= tolerance * fabs(want), "%s: %.17g, not %.17g", what, got, want);
}

static double find(const struct outage outages[],
                   size_t n,
                   int64_t watched_s,
                   int64_t half_life_s,
                   double slot_s,
                   struct reachability *found)
{
    reachability_find(outages, n, 0, watched_s * S, watched_s * S, half_life_s, &PRIOR, slot_s,
                      found);
    return found->probability;
}

Test(reachability, outages_that_overlap_or_touch_are_one)
{
    struct outage outages[] = {{50, 60}, {10, 20}, {15, 30}, {10, 12}, {30, 31}, {50, 60}};
    cr_assert_eq(outages_join(outages, 6, 10), 2);
    cr_expect_eq(outages[0].from_us, 10);
    cr_expect_eq(outages[0].until_us, 31);
    cr_expect_eq(outages[1].from_us, 50);
    cr_expect_eq(outages[1].until_us, 60);
}

Test(reachability, only_the_newest_are_kept)
{
    struct outage outages[] = {{50, 60}, {10, 20}, {70, 80}};
    cr_assert_eq(outages_join(outages, 3, 2), 2);
    cr_expect_eq(outages[0].from_us, 50);
    cr_expect_eq(outages[1].from_us, 70);
    cr_expect_eq(outages_join(NULL, 0, 2), 0);
}

/* One outage of 10 minutes in 30 days: away 600/2592000 of the time, and one begins so often. */
Test(reachability, who_never_reported_is_as_the_prior_says)
{
    struct reachability found;
    double there = 1 - 600 / (30.0 * 86400);
    reachability_find(NULL, 0, 1, 0, 0, DAY, &PRIOR, 60, &found);
    expect_near(found.probability, 1 - there * exp(-60 / (30.0 * 86400 - 600)), 1e-12, "prior");
    cr_expect_eq(found.observed_s, 0);
    cr_expect_eq(found.outages, 0);
}

/* With next to no fading the counts are plain: hand-worked. */
Test(reachability, the_prior_counts_as_watched_time)
{
    const struct outage outages[] = {{DAY * S, (DAY + 1200) * S},
                                     {9 * DAY * S, (9 * DAY + 600) * S}};
    struct reachability found;
    double got = find(outages, 2, 14 * DAY, INT64_C(1000000) * DAY, 30, &found);
    expect_near(found.observed_s, 14.0 * 86400, 1e-4, "observed");
    expect_near(found.outages, 2, 1e-4, "outages");
    expect_near(found.downtime_s, 1800, 1e-4, "unreachable");
    double outages_all = 2 + 7.0 / 30;
    double away_s = 1800 + 600 * 7.0 / 30;
    double watched_s = 21.0 * 86400;
    double want = 1 - (1 - away_s / watched_s) * exp(-outages_all / (watched_s - away_s) * 30);
    expect_near(got, want, 1e-4, "probability");
}

Test(reachability, what_was_watched_long_outweighs_the_prior)
{
    struct outage outages[1000];
    struct reachability found;
    for (int64_t i = 0; i < 1000; i++)
        outages[i] = (struct outage){i * DAY * S, (i * DAY + 8640) * S};
    double got = find(outages, 1000, 1000 * DAY, INT64_C(100000) * DAY, 1, &found);
    expect_near(got, 0.1, 0.02, "a tenth of each day");
}

Test(reachability, old_outages_fade_and_so_does_the_time_in_which_there_were_none)
{
    const struct outage early = {DAY * S, (DAY + 3600) * S};
    const struct outage late = {99 * DAY * S, (99 * DAY + 3600) * S};
    struct reachability old;
    struct reachability recent;
    find(&early, 1, 100 * DAY, 10 * DAY, 60, &old);
    find(&late, 1, 100 * DAY, 10 * DAY, 60, &recent);
    expect_near(old.outages, exp2(-9.9), 1e-9, "ten half-lives ago, less a day");
    expect_near(recent.outages, exp2(-0.1), 1e-9, "a day ago");
    cr_expect_gt(recent.probability, old.probability);
    expect_near(old.observed_s, 10 * 86400 / log(2) * (1 - exp2(-10)), 1e-9, "observed");
}

Test(reachability, a_longer_slot_is_touched_more_likely)
{
    const struct outage outage = {DAY * S, (DAY + 3600) * S};
    struct reachability found;
    double last = 0;
    for (double slot_s = 0.001; slot_s < 1e7; slot_s *= 10) {
        double now = find(&outage, 1, 10 * DAY, 30 * DAY, slot_s, &found);
        cr_expect_gt(now, last);
        cr_expect_leq(now, 1);
        last = now;
    }
}

Test(reachability, always_away_is_nearly_one_and_never_above)
{
    const struct outage outage = {0, 365 * DAY * S};
    struct reachability found;
    const struct reachability_prior weak = {
        .mean_time_between_outages_s = 1e9, .mean_outage_s = 0, .weight_s = 1e-9};
    reachability_find(&outage, 1, 0, 365 * DAY * S, 365 * DAY * S, 30 * DAY, &weak, 1, &found);
    cr_expect_leq(found.probability, 1);
    cr_expect_gt(found.probability, 0.99);
    cr_expect_leq(found.downtime_s, found.observed_s);
}
