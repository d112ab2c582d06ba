/*
 * Slots divided and decided on: a plan by FRESH static for 500 slots and 100 jobs of 400 tasks, all
 * splits and the best one alone, at several concurrencies; and what a free slot is to serve, by FRESH
 * and by OMO, among 100 jobs and among 10,000.
 *
 * The status is 1 when all splits take 10 ms or more, or a decision among 100 jobs 20 microseconds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/fresh_plan.h"
#include "core/scheduling/slots/omo_candidates.h"
#include "core/sim/variates.h"

enum { SLOTS = 500, BATCH = 100, MAPS = 200, REDUCES = 200, FEW = 100, MANY = 10000, RUNS = 7 };

static const double PLAN_GOAL_S = 10e-3;
static const double DECISION_GOAL_S = 20e-6;

static bool met = true;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct rng stream(uint64_t purpose)
{
    return variate_stream(1, &purpose, 1);
}

/* --- FRESH static --- */

static void measure_plan(const struct fresh_work jobs[], size_t concurrency)
{
    const struct fresh_plan_terms terms = {.jobs = jobs,
                                           .n = BATCH,
                                           .slots = SLOTS,
                                           .concurrency = concurrency,
                                           .profile_error = (double)NAN};
    const struct fresh_batch batch = {jobs, BATCH, SLOTS, concurrency};
    double plan_s = HUGE_VAL;
    double best_s = HUGE_VAL;
    struct fresh_plan plan;
    size_t best = 0;
    for (size_t run = 0; run < RUNS; run++) {
        struct arena arena;
        arena_init(&arena, 0);
        double began_s = cpu_s();
        if (fresh_plan_make(&terms, &arena, &plan, NULL) != PV_OK)
            abort();
        double planned_s = cpu_s();
        if (fresh_static_best(&batch, &arena, &best, NULL) != PV_OK)
            abort();
        plan_s = fmin(plan_s, planned_s - began_s);
        best_s = fmin(best_s, cpu_s() - planned_s);
        arena_fini(&arena);
    }
    met = met && plan_s < PLAN_GOAL_S;
    printf("fresh_static, k = %-3zu  all splits %7.3f ms, best alone %7.3f ms   %zu map slots, "
           "%.0f s\n",
           concurrency, plan_s * 1e3, best_s * 1e3, best, plan.best.makespan_s);
}

static void measure_plans(void)
{
    static const size_t concurrencies[] = {1, 3, 10, 100};
    struct fresh_work jobs[BATCH];
    struct rng rng = stream(1);
    for (size_t i = 0; i < BATCH; i++)
        jobs[i] = fresh_work_of(MAPS, variate_uniform(&rng, 5, 30), REDUCES,
                                variate_uniform(&rng, 5, 30));
    for (size_t i = 0; i < sizeof concurrencies / sizeof *concurrencies; i++)
        measure_plan(jobs, concurrencies[i]);
}

/* --- decisions --- */

static struct fresh_job draw_fresh_job(struct rng *rng)
{
    struct fresh_job job = {.phase = (enum fresh_phase)variate_index(rng, 3),
                            .started_s = variate_uniform(rng, 0, 500),
                            .maps = 300,
                            .maps_finished = 300,
                            .map_task_s = variate_uniform(rng, 5, 30),
                            .reduces = 100,
                            .reduce_task_s = variate_uniform(rng, 5, 30),
                            .task_time_s = variate_uniform(rng, 0, 5000)};
    if (job.phase == FRESH_MAP) {
        job.maps_finished = 240 + variate_index(rng, 40);
        job.maps_running = variate_index(rng, 20);
    }
    if (job.phase == FRESH_REDUCE) {
        job.reduces_finished = variate_index(rng, 80);
        job.reduces_running = variate_index(rng, 20);
    }
    return job;
}

/* Whatever is decided is printed, so that it is computed. */
static void report(const char *kind, size_t n, double best_s, size_t decided)
{
    printf("%-5s %5zu jobs  %8.2f us a decision   (%zu)\n", kind, n, best_s * 1e6, decided);
    met = met && (n > FEW || best_s < DECISION_GOAL_S);
}

static void measure_fresh(size_t n, size_t repetitions)
{
    static struct fresh_job jobs[MANY];
    const struct fresh_terms terms = {n, 0.8, 0.6};
    struct rng rng = stream(2);
    double best_s = HUGE_VAL;
    size_t decided = 0;
    for (size_t i = 0; i < n; i++)
        jobs[i] = draw_fresh_job(&rng);
    for (size_t run = 0; run < RUNS; run++) {
        double began_s = cpu_s();
        for (size_t r = 0; r < repetitions; r++) {
            const struct fresh_slots slots = {r % SLOTS, SLOTS, (double)NAN, 500};
            struct fresh_tally tally = fresh_tally_begin(600 + (double)r);
            struct fresh_figures figures;
            for (size_t i = 0; i < n; i++)
                fresh_tally_add(&tally, i, &jobs[i]);
            decided += fresh_decide(&terms, &slots, &tally, &figures).job;
        }
        best_s = fmin(best_s, (cpu_s() - began_s) / (double)repetitions);
    }
    report("fresh", n, best_s, decided);
}

static struct omo_job draw_omo_job(struct rng *rng)
{
    struct omo_job job = {.maps = 300,
                          .maps_finished = variate_index(rng, 280),
                          .maps_running = variate_index(rng, 20),
                          .map_task_s = variate_uniform(rng, 5, 30),
                          .reduces = variate_index(rng, 20),
                          .shuffle_s = variate_uniform(rng, 0, 60)};
    job.reduces_running = variate_index(rng, 3) == 0 ? job.reduces : 0;
    return job;
}

/* As a caller of one decision does it: nothing is there before. */
static void measure_omo(size_t n, size_t repetitions)
{
    static struct omo_job jobs[MANY];
    const struct omo_terms terms = {true, true, 0.05};
    struct rng rng = stream(3);
    struct arena arena;
    double best_s = HUGE_VAL;
    size_t decided = 0;
    for (size_t i = 0; i < n; i++)
        jobs[i] = draw_omo_job(&rng);
    arena_init(&arena, 0);
    for (size_t run = 0; run < RUNS; run++) {
        double began_s = cpu_s();
        for (size_t r = 0; r < repetitions; r++) {
            const struct omo_rates rates = {1 + (double)(r % 10), 100};
            struct arena_mark mark = arena_mark(&arena);
            struct omo_candidates candidates;
            if (!omo_candidates_init(&candidates, &terms, n, &arena))
                abort();
            omo_candidates_set_rates(&candidates, &rates, n);
            for (size_t i = 0; i < n; i++)
                (void)omo_candidates_put(&candidates, i, &jobs[i]);
            decided += omo_candidates_choose(&candidates).job;
            arena_rewind(&arena, mark);
        }
        best_s = fmin(best_s, (cpu_s() - began_s) / (double)repetitions);
    }
    arena_fini(&arena);
    report("omo", n, best_s, decided);
}

int main(void)
{
    measure_plans();
    measure_fresh(FEW, 20000);
    measure_fresh(MANY, 200);
    measure_omo(FEW, 20000);
    measure_omo(MANY, 200);
    return met ? 0 : 1;
}
