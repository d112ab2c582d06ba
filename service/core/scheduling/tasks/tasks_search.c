#include "core/scheduling/tasks/tasks_search.h"

#include <math.h>

#include "core/scheduling/tasks/pigeon_plan.h"
#include "core/scheduling/tasks/tasks_comparison.h"
#include "core/scheduling/tasks/tasks_policy.h"

/* --- values that suit a workload --- */

/* Workers of a group, as in the figures of Z. Li's dissertation, chapter 4. */
static const uint32_t group_sizes[] = {10, 20, 30, 50, 75, 100, 150, 200, 300};
static const double reserved_shares[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3};
static const uint64_t weights[] = {10, PIGEON_WEIGHT, TASKS_WEIGHT_INFINITE};
static const uint64_t sparrow_probes[] = {1, 2, 3, 4, 8};
static const uint64_t eagle_probes[] = {1, 2, 3, 4};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Numbers of groups that come closest to the sizes, and one group. */
static void choose_groups(struct tasks_family *family, uint32_t workers, uint64_t groups[])
{
    family->groups = groups;
    for (size_t i = 0; i < COUNT(group_sizes); i++)
        if (group_sizes[i] < workers)
            groups[family->n_groups++] = (uint64_t)lround((double)workers / group_sizes[i]);
    groups[family->n_groups++] = 1;
}

/* Workers are kept free of long tasks, and weighed, where there are jobs of both classes. */
static void choose_for_classes(struct tasks_family *family, bool both)
{
    static const double none[] = {0};
    static const uint64_t usual[] = {PIGEON_WEIGHT};
    if (family->n_reserved_shares == 0) {
        family->reserved_shares = both ? reserved_shares : none;
        family->n_reserved_shares = both ? COUNT(reserved_shares) : 1;
    }
    if (family->n_weights == 0) {
        family->weights = both ? weights : usual;
        family->n_weights = both ? COUNT(weights) : 1;
    }
}

static void choose_probes(struct tasks_family *family)
{
    bool eagle = family->policy == TASKS_EAGLE;
    if (family->n_probes_per_task > 0)
        return;
    family->probes_per_task = eagle ? eagle_probes : sparrow_probes;
    family->n_probes_per_task = eagle ? COUNT(eagle_probes) : COUNT(sparrow_probes);
}

/* Of jobs that are counted only it is not known. */
static bool has_both_classes(const struct tasks_model *model)
{
    size_t n_long = 0;
    if (model->jobs == NULL)
        return true;
    for (uint32_t j = 0; j < model->n_jobs; j++)
        n_long += model->jobs[j].is_long;
    return n_long > 0 && n_long < model->n_jobs;
}

/* What a policy does not have is combined with nothing. */
static struct tasks_family complete_family(const struct tasks_family *family,
                                           const struct tasks_model *model,
                                           uint64_t groups[])
{
    struct tasks_family whole = *family;
    bool masters = family->policy == TASKS_PIGEON || family->policy == TASKS_CENTRALISED;
    if (family->policy == TASKS_PIGEON && family->n_groups == 0)
        choose_groups(&whole, model->workers, groups);
    choose_for_classes(&whole, has_both_classes(model));
    choose_probes(&whole);
    if (family->policy != TASKS_PIGEON)
        whole.n_groups = 1;
    if (family->policy == TASKS_SPARROW)
        whole.n_reserved_shares = 1;
    if (masters)
        whole.n_probes_per_task = 1;
    else
        whole.n_weights = 1;
    return whole;
}

/* --- combinations --- */

/* The terms of combination i of a family: the last list changes fastest. */
static struct tasks_terms terms_of(const struct tasks_family *family, size_t i)
{
    struct tasks_terms terms = tasks_terms_default(family->policy);
    bool masters = terms.policy == &pigeon_policy || terms.policy == &centralised_policy;
    size_t probes = i % family->n_probes_per_task;
    size_t weight = i / family->n_probes_per_task % family->n_weights;
    size_t share = i / family->n_probes_per_task / family->n_weights % family->n_reserved_shares;
    size_t groups = i / family->n_probes_per_task / family->n_weights / family->n_reserved_shares;
    if (terms.policy == &pigeon_policy)
        terms.groups = (uint32_t)family->groups[groups];
    if (terms.policy != &sparrow_policy)
        terms.reserved_share = family->reserved_shares[share];
    if (masters)
        terms.weight = family->weights[weight];
    else
        terms.probes_per_task = (uint32_t)family->probes_per_task[probes];
    return terms;
}

/* Workers that are reserved in groups of a size. */
static bool same_reserved(const struct tasks_terms *a, const struct tasks_terms *b, int64_t workers)
{
    return pigeon_reserved_workers(workers, a->reserved_share) ==
           pigeon_reserved_workers(workers, b->reserved_share);
}

/* Whether they do the same: shares that come to as many workers are one. */
static bool
are_alike(const struct tasks_model *model, const struct tasks_terms *a, const struct tasks_terms *b)
{
    if (a->policy != b->policy)
        return false;
    if (a->policy == &sparrow_policy)
        return a->probes_per_task == b->probes_per_task;
    if (a->policy == &eagle_policy)
        return a->probes_per_task == b->probes_per_task && same_reserved(a, b, model->workers);
    uint32_t size = model->workers / a->groups;
    return a->groups == b->groups && a->weight == b->weight && same_reserved(a, b, size) &&
           (model->workers % a->groups == 0 || same_reserved(a, b, (int64_t)size + 1));
}

static uint32_t find_greatest_group(const struct tasks_model *model)
{
    uint32_t greatest = 0;
    for (uint32_t j = 0; model->jobs != NULL && j < model->n_jobs; j++) {
        const struct tasks_job *job = &model->jobs[j];
        for (uint32_t i = 0; job->placement != NULL && i < job->tasks; i++)
            greatest = job->placement[i] > greatest ? job->placement[i] : greatest;
    }
    return greatest;
}

/* What candidates have to keep to. */
struct bounds {
    const struct tasks_model *model;
    uint32_t placed; /* the greatest group of a placement */
    size_t memory_max;
    size_t most;
};

/* false: there are too many. */
static bool
add(const struct bounds *bounds, const struct tasks_terms *terms, struct tasks_tried *tried)
{
    const struct tasks_model *model = bounds->model;
    bool pigeon = terms->policy == &pigeon_policy;
    if ((pigeon && (terms->groups > model->workers || bounds->placed >= terms->groups)) ||
        tasks_comparison_memory(model, terms) > bounds->memory_max) {
        tried->left_out++;
        return true;
    }
    for (size_t i = 0; i < tried->n; i++)
        if (are_alike(model, &tried->terms[i], terms))
            return true;
    if (tried->n == bounds->most)
        return false;
    tried->terms[tried->n++] = *terms;
    return true;
}

static bool add_family(const struct bounds *bounds,
                       const struct tasks_family *family,
                       struct tasks_tried *tried)
{
    size_t n = family->n_probes_per_task * family->n_weights * family->n_reserved_shares *
               family->n_groups;
    for (size_t i = 0; i < n; i++) {
        struct tasks_terms terms = terms_of(family, i);
        if (!add(bounds, &terms, tried))
            return false;
    }
    return true;
}

static void add_compared(const struct bounds *bounds,
                         const struct tasks_family *family,
                         struct tasks_tried *tried)
{
    const struct tasks_policy *policy = tasks_terms_default(family->policy).policy;
    size_t listed = family->n_groups + family->n_reserved_shares + family->n_weights +
                    family->n_probes_per_task;
    for (size_t p = 0; listed == 0 && p < family->n_compared; p++) {
        const struct tasks_terms *terms = &family->compared[p];
        if (terms->policy == policy && terms->layout == NULL && !add(bounds, terms, tried))
            tried->left_out++;
    }
}

enum pv_code tasks_search_candidates(const struct tasks_model *model,
                                     const struct tasks_family families[],
                                     size_t n,
                                     size_t memory_max,
                                     size_t most,
                                     struct arena *arena,
                                     struct tasks_tried *tried,
                                     struct pv_error *err)
{
    uint64_t groups[COUNT(group_sizes) + 1];
    *tried = (struct tasks_tried){.terms = arena_array(arena, most, sizeof *tried->terms)};
    if (tried->terms == NULL)
        return pv_no_memory(err);
    const struct bounds bounds = {model, find_greatest_group(model), memory_max, most};
    for (size_t f = 0; f < n; f++) {
        struct tasks_family family = complete_family(&families[f], model, groups);
        if (!add_family(&bounds, &family, tried))
            return pv_fail(err, PV_E_LIMIT, "there are more than %zu candidates", most);
    }
    for (size_t f = 0; f < n; f++)
        add_compared(&bounds, &families[f], tried);
    return PV_OK;
}

/* --- the search --- */

bool tasks_search_plan(const struct tasks_model *model,
                       const struct tasks_tried *tried,
                       bool retimed,
                       struct arena *arena,
                       struct policy_search_plan *plan)
{
    bool *draws = arena_array(arena, tried->n, sizeof *draws);
    double *weight = arena_array(arena, tried->n, sizeof *weight);
    double *setup = arena_array(arena, tried->n, sizeof *setup);
    double *tasks_by = arena_array(arena, (size_t)model->n_jobs + 1, sizeof *tasks_by);
    if (draws == NULL || weight == NULL || setup == NULL || tasks_by == NULL)
        return false;
    for (size_t i = 0; i < tried->n; i++) {
        draws[i] = retimed || tasks_terms_draw(&tried->terms[i]);
        weight[i] = tasks_simulation_work(model, &tried->terms[i]) / (double)model->tasks;
        setup[i] = tasks_comparison_setup(model, &tried->terms[i]);
    }
    tasks_model_tasks_by(model, tasks_by);
    *plan = (struct policy_search_plan){.n = tried->n,
                                        .draws = draws,
                                        .weight = weight,
                                        .setup = setup,
                                        .tasks_by = tasks_by,
                                        .jobs = model->n_jobs};
    return true;
}

const struct tasks_terms *tasks_search_best(const struct tasks_tried *tried,
                                            const struct policy_search_found found[],
                                            size_t loads,
                                            struct arena *arena)
{
    struct tasks_terms *terms = arena_array(arena, loads, sizeof *terms);
    for (size_t l = 0; terms != NULL && l < loads; l++)
        terms[l] = tried->terms[found[l].ranks[0].candidate];
    return terms;
}
