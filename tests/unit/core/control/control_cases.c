#include "control_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/sim/variates.h"

static double make_stages(struct control_case *made, struct rng *rng, size_t j, size_t n)
{
    double cores = (double)(made->cluster.workers * made->cluster.cores);
    double alone_s = 0;
    for (size_t s = 0; s < n; s++) {
        made->parents[j][s] = s - 1;
        made->stages[j][s] = (struct edf_stage){.id = (int64_t)s,
                                                .parents = &made->parents[j][s],
                                                .n_parents = s > 0,
                                                .tasks = 1 + variate_index(rng, 200),
                                                .task_duration_s = variate_uniform(rng, 0.5, 3)};
        alone_s +=
            made->stages[j][s].task_duration_s * ceil((double)made->stages[j][s].tasks / cores);
    }
    return alone_s;
}

void control_case_make(struct control_case *made, uint64_t number, double slack)
{
    struct rng rng = rng_make(7, number);
    made->n = 1 + variate_index(&rng, CONTROL_JOBS);
    made->cluster =
        (struct control_cluster){1 + variate_index(&rng, 4), 2 + variate_index(&rng, 15)};
    for (size_t j = 0; j < made->n; j++) {
        size_t n = 1 + variate_index(&rng, CONTROL_STAGES);
        double alone_s = make_stages(made, &rng, j, n);
        made->jobs[j] =
            (struct edf_job){.release_s = variate_uniform(&rng, 0, 60),
                             .deadline_s = slack * (alone_s * variate_uniform(&rng, 1.5, 8) + 10),
                             .stages = made->stages[j],
                             .n_stages = n};
        made->terms[j] = (struct control_job){0.95, variate_uniform(&rng, 1e5, 1e6)};
    }
}

struct control_model control_case_model(const struct control_case *of,
                                        const struct control_options *options,
                                        struct arena *arena)
{
    struct control_model model;
    cr_assert_eq(
        control_model_make(of->jobs, of->terms, of->n, &of->cluster, options, arena, &model, NULL),
        PV_OK);
    return model;
}

struct control_result control_case_run(const struct control_model *model,
                                       const char *strategy,
                                       double gamma,
                                       struct control_trace *trace,
                                       struct arena *arena)
{
    struct control_run run = {.gamma = gamma, .steps_max = 1e9};
    struct control_result result;
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
        if (strcmp(contention_strategies[s].name, strategy) == 0)
            run.strategy = &contention_strategies[s];
    cr_assert_eq(control_simulate(model, &run, NULL, trace, arena, arena, &result, NULL), PV_OK);
    return result;
}
