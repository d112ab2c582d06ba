#include "base/plural.h"
#include "codec/scheduling/policy_search.h"
#include "codec/scheduling/slots_simulation_internal.h"

/* Searches of simulations of kind `slots`: candidates are chosen by the sizes of jobs, of a stored
 * workload once they are loaded. */

static enum pv_code
choose(struct codec_slots_simulation *asked, struct arena *arena, struct pv_error *err)
{
    for (size_t f = 0; f < asked->common.search.n_families; f++) {
        asked->families[f].compared = asked->policies;
        asked->families[f].n_compared = asked->common.n_policies;
    }
    return slots_search_candidates(&asked->cluster, asked->jobs, asked->n_jobs, asked->families,
                                   asked->common.search.n_families, SEARCH_CANDIDATES_MAX, arena,
                                   &asked->tried, err);
}

/* What a candidate counts for over all jobs, of so many tasks (slots_search_plan). */
static double work_of(const struct codec_slots_simulation *asked, double tasks)
{
    return tasks + slots_cluster_incident_tasks(&asked->cluster, tasks) +
           slots_network_tasks(&asked->cluster, asked->jobs, asked->n_jobs);
}

void codec_slots_check_search(const struct codec_node *top, struct codec_slots_simulation *asked)
{
    if (!asked->common.search.asked)
        return;
    enum pv_code code = choose(asked, top->reader->arena, NULL);
    const struct codec_search_size size = {
        .n = asked->tried.n, .work = work_of(asked, codec_slots_size_of(asked).tasks)};
    codec_search_check(top, &asked->common, code, &size);
}

void codec_slots_check_search_of(const struct codec_node *top,
                                 const struct workload_summary *workload,
                                 struct codec_slots_simulation *asked)
{
    if (!asked->common.search.asked)
        return;
    uint64_t tasks = workload->tasks[WORKLOAD_TASKS] + workload->tasks[WORKLOAD_REDUCES];
    /* How many candidates there are is known when the jobs are: here it is at fault in no way. */
    const struct codec_search_size size = {.n = 1, .work = work_of(asked, (double)tasks)};
    codec_search_check(top, &asked->common, PV_OK, &size);
}

enum pv_code codec_slots_choose_candidates(struct codec_slots_simulation *asked,
                                           struct arena *arena,
                                           struct pv_error *err)
{
    if (!asked->common.search.asked)
        return PV_OK;
    enum pv_code code = choose(asked, arena, err);
    return codec_search_check_loaded(code, asked->tried.n, err);
}
