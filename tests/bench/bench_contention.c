/*
 * One supervisor step: microseconds of the processor for each strategy, from 10 to 100,000
 * applications. `contended` is a quarter of what is requested, `idle` four times as much; `staged`
 * has requests so far apart that Alg. 7, taken literally, would need a round for many of them.
 * Every repetition has other numbers, so that no predictor has seen their order.
 *
 *     bench_contention [APPLICATIONS_MAX]
 *
 * The least and the median of the repetitions. A step for 1,000 applications should stay under 200
 * microseconds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "core/deadline/contention.h"

enum { REPETITIONS = 201 };

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is requested in sum. */
static double draw(struct contention_application applications[], size_t n, bool staged, size_t seed)
{
    struct rng rng = rng_make(42, seed);
    double requested = 0;
    for (size_t i = 0; i < n; i++) {
        applications[i] = (struct contention_application){
            .requested_cores =
                staged ? pow(1.02, 1000 * rng_uniform(&rng)) : 16 * rng_uniform(&rng),
            .time_to_complete_s = 3600 * rng_uniform(&rng) - 300,
            .remaining_tasks = floor(100 * rng_uniform(&rng)),
            .nominal_rate = rng_lognormal(&rng, 1e6, 1)};
        requested += applications[i].requested_cores;
    }
    return requested;
}

static bool run_row(const struct contention_strategy *strategy,
                    size_t n,
                    const char *kind,
                    double cores_per_request,
                    struct contention_application applications[],
                    struct contention_share shares[])
{
    struct contention_terms terms = {1, 1, 1e6};
    struct contention_outcome outcome;
    double took[REPETITIONS];
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t i = 0; i < REPETITIONS; i++) {
        terms.max_cores = cores_per_request * draw(applications, n, strcmp(kind, "staged") == 0, i);
        double began = cpu_us();
        if (contention_resolve(strategy, &terms, applications, n, &scratch, shares, &outcome,
                               NULL) != PV_OK)
            return false;
        took[i] = cpu_us() - began;
    }
    qsort(took, REPETITIONS, sizeof *took, ascending);
    double cores = 0;
    for (size_t i = 0; i < n; i++)
        cores += shares[i].cores;
    printf("%12zu  %-16s  %-9s %10.1f %10.1f %10.4f\n", n, strategy->name, kind, took[0],
           took[REPETITIONS / 2], cores / terms.max_cores);
    arena_fini(&scratch);
    return true;
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 100000;
    struct contention_application *applications = calloc(100000, sizeof *applications);
    struct contention_share *shares = calloc(100000, sizeof *shares);
    bool ok = applications != NULL && shares != NULL;
    printf("%12s  %-16s  %-9s %10s %10s %10s\n", "applications", "strategy", "", "least us",
           "median us", "given");
    for (size_t n = 10; ok && n <= most && n <= 100000; n *= 10) {
        for (size_t s = 0; s < CONTENTION_STRATEGIES; s++) {
            const struct contention_strategy *strategy = &contention_strategies[s];
            ok = ok && run_row(strategy, n, "contended", 0.25, applications, shares);
            ok = ok && run_row(strategy, n, "idle", 4, applications, shares);
            ok = ok && run_row(strategy, n, "staged", 0.9, applications, shares);
        }
    }
    free(applications);
    free(shares);
    return ok ? 0 : 1;
}
