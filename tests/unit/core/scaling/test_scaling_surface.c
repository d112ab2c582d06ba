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
    const struct speedup_surface surface = speedup_surface_make(&model, NULL, 0);
    struct best_executors crest;
    surface_best(&surface, 64, 64, &crest);
    cr_expect_eq(crest.executors, 16);
    cr_expect(!crest.rising);
    cr_expect_float_eq(crest.prediction.duration_s, 36, 1e-12);
    /* (64 / 8) T(8, 2) / T(64, 16) with T(8, 2) = 25.5. */
    struct surface_base base = {8, 2};
    cr_expect_float_eq(surface_relative_speedup(&surface, &base, 64, &crest.prediction),
                       8 * 25.5 / 36, 1e-12);
    surface_best(&surface, 64, 10, &crest);
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
    const struct speedup_surface surface = speedup_surface_make(&model, NULL, 0);
    cr_expect(isnan(surface_relative_speedup(&surface, &base, 64, &prediction)));
}

/* A replay of size 64 takes twice as long as the law says on one executor and half as long on 32; one
 * of size 8 takes 100 s on one. Each is of its own size, and the law continues it to other counts. */
Test(scaling_surface, what_is_predicted_replaces_the_law)
{
    static const double counts[] = {1, 32};
    static const double intervals_s[][2] = {{300, 500}, {(double)NAN, (double)NAN}};
    struct model model = model_bare(&ernest_kind);
    const double estimates[] = {12, 3, 0, 0.75};
    for (size_t j = 0; j < 4; j++)
        model.parameters[j].estimate = estimates[j];
    const double predicted_s[] = {2 * (12 + 3 * 64 + 0.75), (12 + 3 * 2 + 0.75 * 32) / 2};
    const double small_s[] = {100};
    const struct predicted_times predicted[] = {{8, counts, small_s, NULL, 1},
                                                {64, counts, predicted_s, intervals_s, 2}};
    const struct speedup_surface surface = speedup_surface_make(&model, predicted, 2);
    struct model_prediction there;
    struct best_executors crest;

    surface_predict(&surface, 64, 1, &there);
    cr_expect_float_eq(there.duration_s, predicted_s[0], 1e-9);
    cr_expect_eq(there.interval_s[0], 300);
    cr_expect_eq(there.interval_s[1], 500);
    cr_expect_float_eq(there.speedup, 1, 1e-12);
    surface_predict(&surface, 64, 32, &there);
    cr_expect_float_eq(there.duration_s, predicted_s[1], 1e-9);
    cr_expect_float_eq(there.speedup, predicted_s[0] / predicted_s[1], 1e-9);
    cr_expect(isnan(there.interval_s[1]), "the model knows none, either");
    surface_predict(&surface, 8, 1, &there);
    cr_expect_float_eq(there.duration_s, 100, 1e-9);
    surface_predict(&surface, 8, 2, &there);
    cr_expect_float_eq(there.duration_s, 25.5 * 100 / 36.75, 1e-9);

    struct surface_base base = {8, 1};
    surface_predict(&surface, 64, 32, &there);
    cr_expect_float_eq(surface_relative_speedup(&surface, &base, 64, &there),
                       8 * 100 / predicted_s[1], 1e-9);
    surface_best(&surface, 64, 64, &crest);
    cr_expect_eq(crest.executors, 32, "not the 16 of the law");
    cr_expect(!crest.rising);
    cr_expect_float_eq(crest.prediction.duration_s, predicted_s[1], 1e-9);
    surface_best(&surface, 64, 20, &crest);
    cr_expect_eq(crest.executors, 16, "32 are too many");
    cr_expect(!crest.rising);
    surface_best(&surface, 64, 10, &crest);
    cr_expect_eq(crest.executors, 10);
    cr_expect(crest.rising);
}
