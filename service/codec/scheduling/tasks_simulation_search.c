#include <math.h>

#include "codec/scheduling/policy_search.h"
#include "codec/scheduling/tasks_simulation_internal.h"

/* Searches of simulations of kind `tasks`. */

static bool any_bound(const struct codec_tasks_simulation *asked)
{
    for (size_t i = 0; i < asked->n_sent; i++)
        if (asked->sent[i].job.bindings != NULL)
            return true;
    return false;
}

void codec_tasks_check_searchable(const struct codec_node *top,
                                  const struct codec_tasks_simulation *asked)
{
    const char *what = asked->cluster.n_groups > 0 ? "workers in groups"
                       : asked->n_classes > 0      ? "declared classes"
                       : any_bound(asked)          ? "tasks that are bound to workers"
                                                   : NULL;
    if (asked->common.search.asked && what != NULL)
        codec_fault_member(top, "search", "conflict",
                           "candidates of a search have equal groups, short and long jobs and free "
                           "tasks: %s cannot be searched for",
                           what);
}

double codec_tasks_most_work(const struct codec_tasks_simulation *asked,
                             const struct tasks_model *model)
{
    double most = 0;
    for (size_t i = 0; i < asked->tried.n; i++)
        most = fmax(most, tasks_comparison_work(model, &asked->tried.terms[i]));
    return most;
}

static enum pv_code choose(struct codec_tasks_simulation *asked,
                           const struct tasks_model *model,
                           struct arena *arena,
                           struct pv_error *err)
{
    for (size_t f = 0; f < asked->common.search.n_families; f++) {
        asked->families[f].compared = asked->policies;
        asked->families[f].n_compared = asked->common.n_policies;
    }
    return tasks_search_candidates(model, asked->families, asked->common.search.n_families,
                                   asked->candidate_bytes_max, SEARCH_CANDIDATES_MAX, arena,
                                   &asked->tried, err);
}

void codec_tasks_check_search(const struct codec_node *top,
                              const struct codec_comparison_limits *limits,
                              const struct tasks_model *model,
                              size_t load_bytes,
                              struct codec_tasks_simulation *asked)
{
    /* Jobs that take too much are a fault of their own. */
    if (!asked->common.search.asked || load_bytes > limits->memory_bytes)
        return;
    asked->candidate_bytes_max = limits->memory_bytes - load_bytes;
    enum pv_code code = choose(asked, model, top->reader->arena, NULL);
    const struct codec_search_size size = {.n = asked->tried.n,
                                           .work = codec_tasks_most_work(asked, model)};
    codec_search_check(top, &asked->common, code, &size);
}

enum pv_code codec_tasks_choose_candidates(struct codec_tasks_simulation *asked,
                                           struct arena *arena,
                                           struct pv_error *err)
{
    if (!asked->common.search.asked)
        return PV_OK;
    enum pv_code code = choose(asked, &asked->model, arena, err);
    return codec_search_check_loaded(code, asked->tried.n, err);
}
