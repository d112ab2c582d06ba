/*
 * Traces through simulated schedulers against what others' simulators make of them: Pigeon's own,
 * with its list of reserved workers corrected, and Eagle's (data/peer-figures.md, sections 1, 2).
 *
 * With one master Pigeon draws nothing, and the figures are the same to the digits that are printed.
 * In groups, medians over five seeds lie within the spread over twenty seeds there. Sparrow's are
 * within a tenth of the medians there, whose results are not sent back and whose times are whole
 * milliseconds; and so are Eagle's, but for those of short jobs that hang on few of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/scheduling/tasks_outcome.h"
#include "core/scheduling/tasks_simulation.h"
#include "pigeon_trace.h"

enum { SKIPPED = 77, FIGURES = 7, SEEDS = 5 };

static int faults;

/* short p50, p90, p99, long p50, p90, p99, mean of all; seconds */
struct expected {
    const char *trace;
    uint32_t workers;
    enum tasks_policy_id policy;
    uint32_t groups;
    double reserved_share;
    double least[FIGURES];
    double most[FIGURES];
};

static const struct expected expectations[] = {
    {"NGO_trace90",
     120,
     TASKS_CENTRALISED,
     1,
     0.1,
     {0.4655, 1.685, 3.255, 197.5, 251.5, 286.5, 19.605},
     {0.4665, 1.695, 3.265, 198.5, 252.5, 287.5, 19.615}},
    {"NYH_trace90",
     330,
     TASKS_CENTRALISED,
     1,
     0.1,
     {0.5755, 1.795, 3.145, 28.25, 65.75, 98.35, 4.135},
     {0.5765, 1.805, 3.155, 28.35, 65.85, 98.45, 4.145}},
    {"NYH_trace90",
     330,
     TASKS_PIGEON,
     11,
     0.1,
     {0.987, 2.78, 4.54, 30.9, 69.2, 101, 4.87},
     {1.11, 3.49, 7.38, 36.2, 75.2, 111, 5.33}},
    {"NYH_trace50",
     330,
     TASKS_PIGEON,
     11,
     0.1,
     {0.286, 0.978, 2.42, 8.2, 39.0, 59.9, 1.80},
     {0.293, 1.03, 3.48, 8.79, 40.1, 60.6, 1.90}},
    {"NGO_trace90",
     120,
     TASKS_PIGEON,
     4,
     0.1,
     {0.486, 1.71, 3.34, 195, 252, 285, 19.4},
     {0.506, 2.09, 4.67, 202, 267, 302, 20.4}},
    {"NYH_trace90",
     330,
     TASKS_SPARROW,
     1,
     0,
     {17.7, 46.3, 54.9, 31.3, 62.5, 90, 23.1},
     {21.7, 56.5, 67.1, 38.3, 76.5, 110, 28.3}},
    {"NYH_trace50",
     330,
     TASKS_EAGLE,
     1,
     0.1,
     {0.256, 0.859, 2.03, 7.17, 37.3, 59.3, 1.72},
     {0.282, 0.949, 3.39, 7.93, 41.3, 65.5, 1.90}},
    {"NGO_trace90",
     120,
     TASKS_EAGLE,
     1,
     0.1,
     {0.7, 39, 52, 173, 229, 272, 29.3},
     {2.0, 59, 64, 211, 279, 332, 35.9}},
};

static void simulate(const struct tasks_model *model,
                     const struct expected *expected,
                     uint64_t seed,
                     double figures[])
{
    const struct trial trial = {seed, 0};
    struct tasks_terms terms = tasks_terms_default(expected->policy);
    struct tasks_result result;
    struct tasks_outcome outcome;
    struct arena arena;
    struct arena scratch;
    terms.groups = expected->groups;
    terms.reserved_share = expected->reserved_share;
    terms.weight = TASKS_WEIGHT_INFINITE;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    if (tasks_simulate(model, &terms, &trial, 0, NULL, &arena, &scratch, &result, NULL) != PV_OK ||
        tasks_outcome_of(model, &result, &scratch, &outcome, NULL) != PV_OK)
        abort();
    const struct percentiles *s = &outcome.classes[TASKS_SHORT].completion_s;
    const struct percentiles *l = &outcome.classes[TASKS_LONG].completion_s;
    const double found[FIGURES] = {s->p50,
                                   s->p90,
                                   s->p99,
                                   l->p50,
                                   l->p90,
                                   l->p99,
                                   outcome.classes[TASKS_ALL].completion_s.mean};
    for (int i = 0; i < FIGURES; i++)
        figures[i] = found[i];
    arena_fini(&scratch);
    arena_fini(&arena);
}

static void compare(const struct tasks_model *model, const struct expected *expected)
{
    double figures[SEEDS][FIGURES];
    for (int seed = 0; seed < SEEDS; seed++)
        simulate(model, expected, (uint64_t)seed + 1, figures[seed]);
    printf("# %s, %s, %u groups:", expected->trace, tasks_policy_name(expected->policy),
           expected->groups);
    for (int i = 0; i < FIGURES; i++) {
        double values[SEEDS];
        for (int seed = 0; seed < SEEDS; seed++)
            values[seed] = figures[seed][i];
        qsort(values, SEEDS, sizeof *values, order_by_double);
        double median = values[SEEDS / 2];
        bool within = median >= expected->least[i] && median <= expected->most[i];
        printf(" %.4g%s", median, within ? "" : " (differs)");
        faults += within ? 0 : 1;
    }
    printf("\n");
}

int main(void)
{
    const char *root = getenv("PROVISOR_SHARED");
    if (root == NULL)
        root = SHARED_DEFAULT;
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        const struct expected *expected = &expectations[i];
        struct pigeon_trace trace = {0};
        struct arena arena;
        arena_init(&arena, 0);
        if (!pigeon_trace_read(&trace, root, expected->trace, 1, &arena)) {
            printf("skipped: no trace %s in %s (set PROVISOR_SHARED)\n", expected->trace, root);
            arena_fini(&arena);
            return SKIPPED;
        }
        struct tasks_model model = {.workers = expected->workers,
                                    .communication_s = 0.0005,
                                    .jobs = trace.jobs.items,
                                    .n_jobs = (uint32_t)trace.jobs.n};
        if (tasks_model_complete(&model, &arena, NULL) != PV_OK)
            abort();
        compare(&model, expected);
        arena_fini(&arena);
    }
    return faults == 0 ? 0 : 1;
}
