/*
 * Scaling models (core/scaling): milliseconds of the processor for one fit of 200 observations with
 * leave-one-out, by kind and form and for all kinds together, and nanoseconds for one prediction
 * with its interval.
 *
 *     bench_models              the table
 *     bench_models rows FORM    the observations, for a peer (bench_models_scipy.py)
 *     bench_models fits FORM    each kind's milliseconds and estimates, for the same
 */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

enum { ROWS = 200, PREDICTIONS = 200000 };

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* 200 runs of 5 sizes from 8 to 128 on 8 executor counts from 1 to 24, five of each, up to 3
 * percent off a law of the size of USBA's. */
static void make_rows(bool speedups, struct observation rows[ROWS])
{
    static const double counts[8] = {1, 2, 4, 6, 8, 12, 16, 24};
    struct rng rng = rng_make(7, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double size = exp2((double)(3 + i / 5 % 5));
        double m = counts[i / 25];
        double noise = 1 + 0.03 * (2 * rng_uniform(&rng) - 1);
        double before = 9 * (0.956 + 0.044 * fmin(m, 10)) * noise;
        double after = 20 * (0.94 + 1.58 * log(size / m) + 0.05 * m + 0.01 * size) * noise;
        after = fmax(after, 1 + 20 * size / m * 0.3);
        rows[i] = model_seen(size, m, before + after, before);
        if (speedups)
            rows[i] = model_seen_speedup(size, m, (9 + 20 * size) / (before + after));
    }
}

/* Seconds of one fit; 0 where there is none, which is said on `out`. */
static double time_fit(const struct model_kind *kind,
                       const struct observation rows[],
                       struct model_fit *fit,
                       struct arena *arena,
                       FILE *out)
{
    struct pv_error err = {0};
    size_t fits = 0;
    double began = cpu_s();
    double spent = 0;
    do {
        struct arena_mark mark = arena_mark(arena);
        if (model_fit(kind, rows, ROWS, MODEL_RELATIVE, arena, fit, &err) != PV_OK) {
            fprintf(out, "%-17s %s\n", kind->name, err.detail);
            return 0;
        }
        fits++;
        spent = cpu_s() - began;
        if (spent < 0.2)
            arena_rewind(arena, mark);
    } while (spent < 0.2);
    return spent / (double)fits;
}

static double time_prediction(const struct model_fit *fit)
{
    struct model_spread spread = model_spread(&fit->model, 0.95);
    struct model_prediction there;
    double sum = 0;
    double began = cpu_s();
    for (size_t i = 0; i < PREDICTIONS; i++) {
        model_predict(&fit->model, &spread, 8 + (double)(i % 100), 1 + (double)(i % 37), &there);
        sum += there.speedup;
    }
    return isnan(sum) ? 0 : (cpu_s() - began) / PREDICTIONS;
}

static bool takes(const struct model_kind *kind, bool speedups)
{
    return (kind->forms & (speedups ? MODEL_OF_SPEEDUPS : MODEL_OF_DURATIONS)) != 0;
}

static void print_table(bool speedups)
{
    struct observation rows[ROWS];
    struct model_fit fit;
    double all = 0;
    make_rows(speedups, rows);
    printf("%-17s %10s %14s %10s   %d %s\n", "kind", "ms/fit", "ns/prediction", "loo mape %", ROWS,
           speedups ? "speedups" : "durations");
    for (size_t k = 0; model_kinds[k] != NULL; k++) {
        struct arena arena;
        if (!takes(model_kinds[k], speedups))
            continue;
        arena_init(&arena, 0);
        double each = time_fit(model_kinds[k], rows, &fit, &arena, stdout);
        if (each > 0)
            printf("%-17s %10.3f %14.0f %10.2f\n", model_kinds[k]->name, each * 1e3,
                   time_prediction(&fit) * 1e9, fit.loo_mape_percent);
        all += each;
        arena_fini(&arena);
    }
    printf("%-17s %10.3f\n", "all of them", all * 1e3);
}

static void print_rows(bool speedups)
{
    struct observation rows[ROWS];
    make_rows(speedups, rows);
    for (size_t i = 0; i < ROWS; i++)
        printf("%.17g %.17g %.17g %.17g\n", rows[i].problem_size, rows[i].executors,
               speedups ? rows[i].speedup : rows[i].duration_s, rows[i].initialization_s);
}

static void print_fits(bool speedups)
{
    struct observation rows[ROWS];
    struct model_fit fit;
    make_rows(speedups, rows);
    for (size_t k = 0; model_kinds[k] != NULL; k++) {
        struct arena arena;
        if (!takes(model_kinds[k], speedups))
            continue;
        arena_init(&arena, 0);
        double each = time_fit(model_kinds[k], rows, &fit, &arena, stderr);
        if (each > 0)
            printf("%s %.17g %.17g %.17g\n", model_kinds[k]->name, each, fit.mape_percent,
                   fit.loo_mape_percent);
        arena_fini(&arena);
    }
}

int main(int argc, char *argv[])
{
    (void)gsl_set_error_handler_off();
    if (argc == 1) {
        print_table(false);
        print_table(true);
        return EXIT_SUCCESS;
    }
    if (argc != 3)
        return EXIT_FAILURE;
    bool speedups = strcmp(argv[2], "speedups") == 0;
    if (strcmp(argv[1], "rows") == 0)
        print_rows(speedups);
    else
        print_fits(speedups);
    return EXIT_SUCCESS;
}
