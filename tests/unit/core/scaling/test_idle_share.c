/* Odds that a machine idles: what is known of other applications, by hand. */
#include "core/scaling/laws/idle_share.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scaling/laws/idle_node.h"
#include "core/scaling/model/observation.h"

/* Of n others, k certainly have an idle machine: the share is Beta(a + k, b + n - k). */
static void expect_counts(bool counted, double odds, size_t k, size_t n)
{
    double evidence[8];
    double a = IDLE_PRIOR_APPLICATIONS * odds / (1 + odds), b = IDLE_PRIOR_APPLICATIONS - a;
    for (size_t i = 0; i < n; i++)
        evidence[i] = i < k ? 40 : -40;
    cr_expect_float_eq(idle_share_log_odds(counted, evidence, n),
                       log((a + (double)k) / (b + (double)(n - k))), 1e-9, "%zu of %zu", k, n);
}

Test(idle_share, others_that_are_certain_are_counted)
{
    cr_expect_float_eq(idle_share_log_odds(false, NULL, 0), log(2), 1e-12);
    cr_expect_float_eq(idle_share_log_odds(true, NULL, 0), -log(9), 1e-12);
    for (size_t n = 1; n <= 8; n++)
        for (size_t k = 0; k <= n; k++) {
            expect_counts(false, 2, k, n);
            expect_counts(true, 1.0 / 9, k, n);
        }
}

/* Evidence of 0 says nothing. One with r = 4 has an idle machine with odds 4 times the prior's 2. */
Test(idle_share, uncertain_others_count_in_part)
{
    const double nothing[] = {0, 0}, some[] = {log(4)};
    cr_expect_float_eq(idle_share_log_odds(false, nothing, 2), log(2), 1e-9);
    double a = IDLE_PRIOR_APPLICATIONS * 2.0 / 3, b = IDLE_PRIOR_APPLICATIONS - a;
    double p = 8.0 / 9; /* that it has one */
    double mean = (p * (a + 1) + (1 - p) * a) / (a + b + 1);
    cr_expect_float_eq(idle_share_log_odds(false, some, 1), log(mean / (1 - mean)), 1e-9);
}

/* The prior of rows is that of counted executors, or of machines, and what others taught. */
Test(idle_share, prior_and_posterior_of_an_application)
{
    struct observation rows[2] = {model_seen(1, 2, 10, (double)NAN),
                                  model_seen(1, 4, 10, (double)NAN)};
    for (size_t i = 0; i < 2; i++) {
        rows[i].executors_counted = false;
        rows[i].idle_learnt = 0.25;
    }
    cr_expect_float_eq(idle_node_prior(rows, 2), log(2) + 0.25, 1e-12);
    rows[1].executors_counted = true;
    cr_expect_float_eq(idle_node_prior(rows, 2), (log(2) - log(9)) / 2 + 0.25, 1e-12);
    rows[0].executors_counted = true;
    rows[0].idle_learnt = 0.75;
    cr_expect_float_eq(idle_node_prior(rows, 2), -log(9) + 0.5, 1e-12);
    cr_expect_float_eq(idle_node_posterior(0.5, 1), exp(1.5), 1e-9);
    cr_expect_float_eq(idle_node_posterior(5, 100) / exp(20), 1, 1e-9);
    cr_expect_float_eq(idle_node_posterior(-5, -100) / exp(-20), 1, 1e-9);
}

/* The runs of two groups of labels, each by itself or all in any order: what each shows adds up. */
Test(idle_share, evidence_of_groups_adds_up)
{
    static const double counts[] = {2, 3, 4, 6, 8, 12};
    struct observation own[2][6], all[12];
    struct arena arena;
    double evidence, sum = 0;
    arena_init(&arena, 0);
    for (unsigned g = 0; g < 2; g++) {
        for (size_t i = 0; i < 6; i++) {
            double time_s = g == 0 ? 30 + 900 / (counts[i] - 1) : 20 + 2000 / (counts[i] - 1);
            own[g][i] = model_seen(64, counts[i], time_s, (double)NAN);
            own[g][i].context = g + 1;
            all[2 * i + g] = own[g][i];
        }
        cr_assert_eq(idle_node_shown(own[g], 6, &arena, &evidence, NULL), PV_OK);
        cr_expect_gt(evidence, 1, "a machine idles: %g", evidence);
        sum += evidence;
    }
    cr_assert_eq(idle_node_shown(all, 12, &arena, &evidence, NULL), PV_OK);
    cr_expect_float_eq(evidence, sum, 1e-9);
    arena_fini(&arena);
}
