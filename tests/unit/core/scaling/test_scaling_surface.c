/* What the surface of speedups is drawn over: ticks, the smallest configuration, the ridge. */
#include <criterion/criterion.h>
#include <math.h>

#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/speedup_surface.h"

Test(scaling_surface, ticks_are_the_different_values_in_order)
{
    double values[] = {8, 2, 8, 4, 2, 64};
    double ticks[4];
    cr_assert_eq(surface_ticks(values, 6, 4, ticks), 4);
    const double wanted[] = {2, 4, 8, 64};
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(ticks[i], wanted[i]);
    double one[] = {7, 7};
    cr_expect_eq(surface_ticks(one, 2, 4, ticks), 1);
    cr_expect_eq(ticks[0], 7);
    cr_expect_eq(surface_ticks(one, 0, 4, ticks), 0);
}

Test(scaling_surface, too_many_ticks_are_thinned_and_keep_the_ends)
{
    double values[100];
    double ticks[8];
    for (size_t i = 0; i < 100; i++)
        values[i] = (double)(i * 37 % 100 + 1);
    cr_assert_eq(surface_ticks(values, 100, 8, ticks), 8);
    cr_expect_eq(ticks[0], 1);
    cr_expect_eq(ticks[7], 100);
    for (size_t i = 1; i < 8; i++)
        cr_expect_gt(ticks[i], ticks[i - 1]);
}

Test(scaling_surface, the_smallest_configuration_is_of_the_least_size)
{
    const struct observation rows[] = {
        model_seen(16, 2, 9, (double)NAN), model_seen(8, 4, 9, (double)NAN),
        model_seen(8, 3, 9, (double)NAN), model_seen(64, 1, 9, (double)NAN)};
    struct surface_base base = surface_smallest(rows, 4);
    cr_expect_eq(base.problem_size, 8);
    cr_expect_eq(base.executors, 3);
}

/* T = 12 + 3 N/m + 0.75 m: for N = 64 least at m = 16, where T = 36. */
Test(scaling_surface, the_crest_is_the_least_duration)
{
    struct model model = model_bare(&ernest_kind);
    const double estimates[] = {12, 3, 0, 0.75};
    for (size_t j = 0; j < 4; j++)
        model.parameters[j].estimate = estimates[j];
    struct model_spread none = MODEL_NO_SPREAD;
    struct best_executors crest;
    best_executors_at(&model, &none, 64, 64, &crest);
    cr_expect_eq(crest.executors, 16);
    cr_expect(!crest.rising);
    cr_expect_float_eq(crest.prediction.duration_s, 36, 1e-12);
    /* (64 / 8) T(8, 2) / T(64, 16) with T(8, 2) = 25.5. */
    struct surface_base base = {8, 2};
    cr_expect_float_eq(surface_relative_speedup(&model, &base, 64, &crest.prediction),
                       8 * 25.5 / 36, 1e-12);
    best_executors_at(&model, &none, 64, 10, &crest);
    cr_expect_eq(crest.executors, 10);
    cr_expect(crest.rising);
}

Test(scaling_surface, without_a_time_there_is_no_relative_speedup)
{
    struct model model = model_bare(&ernest_kind);
    for (size_t j = 0; j < 4; j++)
        model.parameters[j].estimate = 0;
    struct surface_base base = {8, 2};
    struct model_prediction prediction = {.duration_s = 5};
    cr_expect(isnan(surface_relative_speedup(&model, &base, 64, &prediction)));
}
