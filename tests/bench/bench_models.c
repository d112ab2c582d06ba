/*
 * Scaling models: microseconds of the processor for one fit of 20 observations with leave-one-out,
 * by kind and form, and nanoseconds for one prediction with its interval.
 */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/scaling/model.h"

enum { ROWS = 20, PREDICTIONS = 200000 };

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* 20 runs of sizes 8 to 64 on 1 to 16 executors, a few percent off USBA's law. */
static void make_rows(bool speedups, struct observation rows[ROWS])
{
    for (size_t i = 0; i < ROWS; i++) {
        double size = exp2((double)(3 + i / 5));
        double m = exp2((double)(i % 5));
        double noise = 1 + 0.02 * (double)((i * 7) % 5) - 0.04;
        double before = 9 * (0.956 + 0.044 * fmin(m, 6)) * noise;
        double after = 20 * (0.94 + 1.58 * log(size / m) + 0.05 * m + 0.01 * size) * noise;
        rows[i] = model_seen(size, m, before + after, before);
        if (speedups)
            rows[i] = model_seen_speedup(size, m, (9 + 20 * size) / (before + after));
    }
}

static void run(const struct model_kind *kind, bool speedups, size_t fits)
{
    struct observation rows[ROWS];
    struct model_fit fit;
    struct model_prediction there;
    struct pv_error err = {0};
    struct arena arena;
    double sum = 0;
    make_rows(speedups, rows);
    double began = cpu_s();
    for (size_t i = 0; i < fits; i++) {
        arena_init(&arena, 0);
        if (model_fit(kind, rows, ROWS, MODEL_SECONDS, &arena, &fit, &err) != PV_OK) {
            printf("%-12s %s\n", kind->name, err.detail);
            arena_fini(&arena);
            return;
        }
        arena_fini(&arena);
    }
    double each_us = (cpu_s() - began) / (double)fits * 1e6;
    struct model_spread spread = model_spread(&fit.model, 0.95);
    began = cpu_s();
    for (size_t i = 0; i < PREDICTIONS; i++) {
        model_predict(&fit.model, &spread, 8 + (double)(i % 100), 1 + (double)(i % 37), &there);
        sum += there.speedup;
    }
    double each_ns = (cpu_s() - began) / PREDICTIONS * 1e9;
    printf("%-12s %-9s %12.1f %16.0f %10.2f %s\n", kind->name, speedups ? "speedups" : "durations",
           each_us, each_ns, fit.loo_mape_percent, isfinite(sum) ? "" : "(not finite)");
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    printf("%-12s %-9s %12s %16s %10s\n", "kind", "form", "us/fit", "ns/prediction", "loo mape %");
    for (size_t i = 0; model_kinds[i] != NULL; i++) {
        run(model_kinds[i], false, 5000);
        if ((model_kinds[i]->forms & MODEL_OF_SPEEDUPS) != 0)
            run(model_kinds[i], true, 200);
    }
    return EXIT_SUCCESS;
}
