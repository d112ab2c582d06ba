#include "core/history/map_reduce.h"

#include <criterion/criterion.h>
#include <math.h>

static const int64_t parents[] = {0, 1};

/* Two stages that read input, a skipped one, and one that reads what they shuffled. */
struct graph {
    struct run_stage stages[4];
    struct run_profile_stage shown[4];
    struct run_profile profile;
};

static void make_graph(struct graph *graph)
{
    *graph = (struct graph){
        .stages = {{.id = 0, .n_tasks = 30},
                   {.id = 1, .n_tasks = 10},
                   {.id = 2, .n_tasks = 100, .skipped = true},
                   {.id = 3, .n_tasks = 8, .parents = parents, .n_parents = 2}},
        .shown = {{.task_duration_s = 2},
                  {.task_duration_s = 6},
                  {.task_duration_s = NAN},
                  {.task_duration_s = 5}},
    };
    for (size_t i = 0; i < 4; i++)
        graph->shown[i].latest = &graph->stages[i];
    graph->profile = (struct run_profile){.stages = graph->shown, .n_stages = 4};
}

Test(map_reduce, stages_without_parents_are_maps_and_others_reduces)
{
    struct graph graph;
    struct map_reduce made;
    make_graph(&graph);
    cr_assert(map_reduce_of(&graph.profile, &made, NULL) == PV_OK);
    cr_expect(made.maps == 40 && made.reduces == 8);
    cr_expect(fabs(made.map_task_s - 3) < 1e-12 && fabs(made.reduce_task_s - 5) < 1e-12);
}

Test(map_reduce, a_job_may_have_no_reduces)
{
    struct graph graph;
    struct map_reduce made;
    make_graph(&graph);
    graph.profile.n_stages = 3;
    cr_assert(map_reduce_of(&graph.profile, &made, NULL) == PV_OK);
    cr_expect(made.maps == 40 && made.reduces == 0 && isnan(made.reduce_task_s));
}

Test(map_reduce, runs_that_do_not_say_enough_make_none)
{
    struct graph graph;
    struct map_reduce made;
    struct pv_error err = {.code = PV_OK};
    make_graph(&graph);
    graph.stages[0].skipped = graph.stages[1].skipped = true;
    cr_expect(map_reduce_of(&graph.profile, &made, &err) == PV_E_TOO_FEW);
    make_graph(&graph);
    graph.shown[1].task_duration_s = NAN;
    cr_expect(map_reduce_of(&graph.profile, &made, NULL) == PV_E_TOO_FEW);
    make_graph(&graph);
    graph.stages[3].n_tasks = RUN_UNKNOWN;
    cr_expect(map_reduce_of(&graph.profile, &made, NULL) == PV_E_TOO_FEW);
    make_graph(&graph);
    graph.shown[3].task_duration_s = 0;
    cr_expect(map_reduce_of(&graph.profile, &made, NULL) == PV_E_TOO_FEW);
}
