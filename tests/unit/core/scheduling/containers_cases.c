#include "containers_cases.h"

#include <criterion/criterion.h>

void containers_case_prepare(struct containers_case *containers_case, struct arena *arena)
{
    struct slots_case *of = &containers_case->of;
    struct slots_resources wanted[SLOTS_KINDS * CASE_JOBS_MAX];
    size_t n = 0;
    slots_case_prepare(of, true);
    for (size_t i = 0; i < of->n; i++) {
        of->jobs[i].requests = containers_case->requests[i];
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            if (of->jobs[i].task_lists[kind].n > 0)
                wanted[n++] = containers_case->requests[i][kind];
    }
    of->cluster.nodes = containers_case->nodes;
    of->cluster.n_nodes = containers_case->n_nodes;
    cr_assert_eq(
        slots_resources_measure(&of->cluster, containers_case->nodes, wanted, n, arena, NULL),
        PV_OK);
}

void containers_case_run(struct containers_case *containers_case,
                         const struct slots_terms *terms,
                         const struct slots_observer *observer,
                         struct slots_job_times times[])
{
    struct slots_case *of = &containers_case->of;
    struct arena scratch;
    arena_init(&scratch, 0);
    containers_case_prepare(containers_case, &scratch);
    cr_assert_eq(slots_simulate_observed(&of->cluster, of->jobs, of->n, terms, NULL, observer,
                                         &scratch, times, NULL),
                 PV_OK);
    arena_fini(&scratch);
}
