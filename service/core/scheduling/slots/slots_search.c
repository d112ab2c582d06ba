#include "core/scheduling/slots/slots_search.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/scheduling/slots/slots_cuts.h"
#include "core/scheduling/slots/slots_queues.h"

/* --- values that suit jobs --- */

static const uint64_t queue_numbers[] = {2, 3, 4, 5};
static const uint64_t concurrencies[] = {0, 1, 2, 4, 8, 16, 32, 64};
/* Of partitions: as the work, as that and equal ones in halves, and equal ones. */
static const double mixtures[] = {0, 0.5, 1};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* What all families have in hand. */
struct search {
    const struct slots_cluster *cluster;
    size_t n_jobs;
    struct slots_sizes sizes;
    struct slots_sizes predicted;
    size_t most;
    struct arena *arena;
    struct slots_tried *tried;
    struct pv_error *err;
};

static bool make_sizes(const struct slots_job jobs[], size_t n, struct search *search)
{
    double *sizes = arena_array(search->arena, n, sizeof *sizes);
    double *predicted = arena_array(search->arena, n, sizeof *predicted);
    if (sizes == NULL || predicted == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        sizes[i] = slots_job_size(&jobs[i]);
        predicted[i] = isnan(jobs[i].predicted_size_s) ? sizes[i] : jobs[i].predicted_size_s;
    }
    qsort(sizes, n, sizeof *sizes, order_by_double);
    qsort(predicted, n, sizeof *predicted, order_by_double);
    search->sizes = (struct slots_sizes){sizes, n};
    search->predicted = (struct slots_sizes){predicted, n};
    return true;
}

static const struct slots_sizes *sizes_for(const struct search *search,
                                           const struct slots_family *family)
{
    return family->policy == SLOTS_SITA ? &search->predicted : &search->sizes;
}

/* --- a candidate --- */

static bool are_alike(const struct slots_terms *a, const struct slots_terms *b)
{
    if (a->policy != b->policy || a->concurrency != b->concurrency || a->queues != b->queues ||
        a->n_limits != b->n_limits)
        return false;
    for (size_t i = 0; i < a->n_limits; i++)
        if (a->limits_s[i] != b->limits_s[i])
            return false;
    for (size_t i = 0; a->partitions != NULL && b->partitions != NULL && i < a->n_limits + 1; i++)
        if (a->partitions[i] != b->partitions[i])
            return false;
    return true;
}

static bool has_slots(const struct search *search, const struct slots_terms *terms)
{
    for (size_t kind = 0; terms->partitions != NULL && kind < SLOTS_KINDS; kind++) {
        size_t slots = search->cluster->slots[kind];
        if (slots > 0 && !slots_queues_suffice(slots, terms->partitions, terms->n_limits + 1))
            return false;
    }
    return true;
}

/* false: there are too many. */
static bool add(struct search *search, const struct slots_terms *terms)
{
    struct slots_tried *tried = search->tried;
    for (size_t i = 0; i < tried->n; i++)
        if (are_alike(&tried->terms[i], terms))
            return true;
    if (!has_slots(search, terms)) {
        tried->left_out++;
        return true;
    }
    if (tried->n == search->most)
        return false;
    tried->terms[tried->n++] = *terms;
    return true;
}

static enum pv_code add_listed(struct search *search, const struct slots_terms *terms)
{
    return add(search, terms) ? PV_OK
                              : pv_fail(search->err, PV_E_LIMIT,
                                        "there are more than %zu candidates", search->most);
}

/* --- limits and partitions --- */

/* Partitions that suit limits: between the sizes at which jobs leave queues. */
static enum pv_code
add_mixtures(struct search *search, const struct slots_family *family, struct slots_terms *terms)
{
    size_t queues = terms->n_limits + 1;
    double *work = arena_array(search->arena, queues, 2 * sizeof *work);
    if (work == NULL)
        return pv_no_memory(search->err);
    double *cuts = work + queues;
    bool through = family->policy == SLOTS_TAGS;
    for (size_t k = 0; k < terms->n_limits; k++)
        cuts[k] = terms->limits_s[k] + (through && k > 0 ? cuts[k - 1] : 0);
    slots_cuts_shares(sizes_for(search, family), through, cuts, queues, work);
    for (size_t i = 0; i < COUNT(mixtures); i++) {
        double *partitions = arena_array(search->arena, queues, sizeof *partitions);
        if (partitions == NULL)
            return pv_no_memory(search->err);
        slots_cuts_partitions(work, queues, mixtures[i], partitions);
        terms->partitions = partitions;
        PV_TRY(add_listed(search, terms));
    }
    return PV_OK;
}

static enum pv_code add_limits(struct search *search,
                               const struct slots_family *family,
                               const struct slots_values *limits)
{
    struct slots_terms terms = {
        .policy = slots_policies[family->policy], .limits_s = limits->at, .n_limits = limits->n};
    bool fit = false;
    if (family->policy == SLOTS_FBQ)
        return add_listed(search, &terms);
    for (size_t i = 0; i < family->n_partitions; i++)
        if (family->partitions[i].n == limits->n + 1) {
            fit = true;
            terms.partitions = family->partitions[i].at;
            PV_TRY(add_listed(search, &terms));
        }
    return fit ? PV_OK : add_mixtures(search, family, &terms);
}

/* Limits by all rules for a number of queues. Those of fbq and tags begin anew in each queue. */
static enum pv_code
add_queues(struct search *search, const struct slots_family *family, size_t queues)
{
    bool through = family->policy != SLOTS_SITA;
    for (size_t rule = 0; rule < SLOTS_CUT_RULES; rule++) {
        double *limits = arena_array(search->arena, queues - 1, sizeof *limits);
        if (limits == NULL)
            return pv_no_memory(search->err);
        if (!slots_cuts_make(sizes_for(search, family), through, (enum slots_cut_rule)rule, queues,
                             limits))
            continue;
        for (size_t k = queues - 2; through && k > 0; k--)
            limits[k] -= limits[k - 1];
        PV_TRY(add_limits(search, family, &(struct slots_values){limits, queues - 1}));
    }
    return PV_OK;
}

/* --- families --- */

static enum pv_code add_with_limits(struct search *search, const struct slots_family *family)
{
    const uint64_t *queues = family->n_queues > 0 ? family->queues : queue_numbers;
    size_t n = family->n_queues > 0 ? family->n_queues : COUNT(queue_numbers);
    for (size_t i = 0; i < family->n_limits_s; i++)
        PV_TRY(add_limits(search, family, &family->limits_s[i]));
    for (size_t i = 0; family->n_limits_s == 0 && i < n; i++)
        PV_TRY(add_queues(search, family, queues[i]));
    return PV_OK;
}

static enum pv_code add_fair(struct search *search, const struct slots_family *family)
{
    bool given = family->n_concurrencies > 0;
    const uint64_t *at = given ? family->concurrencies : concurrencies;
    size_t n = given ? family->n_concurrencies : COUNT(concurrencies);
    for (size_t i = 0; i < n; i++)
        if (given || at[i] < search->n_jobs)
            PV_TRY(add_listed(
                search, &(struct slots_terms){.policy = &slots_policy_fair, .concurrency = at[i]}));
    return PV_OK;
}

static enum pv_code add_comp(struct search *search, const struct slots_family *family)
{
    const uint64_t *queues = family->n_queues > 0 ? family->queues : queue_numbers;
    size_t n = family->n_queues > 0 ? family->n_queues : COUNT(queue_numbers);
    for (size_t i = 0; i < n; i++)
        PV_TRY(add_listed(
            search, &(struct slots_terms){.policy = &slots_policy_comp, .queues = queues[i]}));
    return PV_OK;
}

static enum pv_code add_family(struct search *search, const struct slots_family *family)
{
    switch (family->policy) {
    case SLOTS_FBQ:
    case SLOTS_TAGS:
    case SLOTS_SITA:
        return add_with_limits(search, family);
    case SLOTS_FAIR:
        return add_fair(search, family);
    case SLOTS_COMP:
        return add_comp(search, family);
    case SLOTS_FIFO:
    case SLOTS_CAPACITY:
    case SLOTS_FRESH_STATIC:
    case SLOTS_FRESH:
    case SLOTS_OMO:
    case SLOTS_DRF:
        break; /* fifo has no terms; those of the others are not searched */
    }
    return add_listed(search, &(struct slots_terms){.policy = slots_policies[family->policy]});
}

static void add_compared(struct search *search, const struct slots_family *family)
{
    size_t listed =
        family->n_concurrencies + family->n_queues + family->n_limits_s + family->n_partitions;
    for (size_t p = 0; listed == 0 && p < family->n_compared; p++) {
        const struct slots_terms *terms = &family->compared[p];
        if (terms->policy == slots_policies[family->policy] && !add(search, terms))
            search->tried->left_out++;
    }
}

enum pv_code slots_search_candidates(const struct slots_cluster *cluster,
                                     const struct slots_job jobs[],
                                     size_t n_jobs,
                                     const struct slots_family families[],
                                     size_t n,
                                     size_t most,
                                     struct arena *arena,
                                     struct slots_tried *tried,
                                     struct pv_error *err)
{
    struct search search = {.cluster = cluster,
                            .n_jobs = n_jobs,
                            .most = most,
                            .arena = arena,
                            .tried = tried,
                            .err = err};
    *tried = (struct slots_tried){.terms = arena_array(arena, most, sizeof *tried->terms)};
    if (tried->terms == NULL || !make_sizes(jobs, n_jobs, &search))
        return pv_no_memory(err);
    for (size_t f = 0; f < n; f++)
        PV_TRY(add_family(&search, &families[f]));
    for (size_t f = 0; f < n; f++)
        add_compared(&search, &families[f]);
    return PV_OK;
}

/* --- the search --- */

bool slots_search_plan(const struct slots_comparison *comparison,
                       const struct slots_tried *tried,
                       struct arena *arena,
                       struct policy_search_plan *plan)
{
    const double tasks = (double)comparison->tasks;
    bool *draws = arena_array(arena, tried->n, sizeof *draws);
    double *weight = arena_array(arena, tried->n, sizeof *weight);
    double *setup = arena_array(arena, tried->n, sizeof *setup);
    double *tasks_by = arena_array(arena, comparison->n_jobs + 1, sizeof *tasks_by);
    if (draws == NULL || weight == NULL || setup == NULL || tasks_by == NULL)
        return false;
    for (size_t i = 0; i < tried->n; i++) {
        draws[i] = comparison->plan.n_loads > 0; /* arrivals; no policy does */
        weight[i] = 1 + comparison->network_tasks / tasks;
        /* They last as long however few of the jobs are simulated. */
        setup[i] = slots_cluster_incident_tasks(&comparison->cluster, tasks);
    }
    slots_comparison_tasks_by(comparison, tasks_by);
    *plan = (struct policy_search_plan){.n = tried->n,
                                        .draws = draws,
                                        .weight = weight,
                                        .setup = setup,
                                        .tasks_by = tasks_by,
                                        .jobs = comparison->n_jobs};
    return true;
}

const struct slots_terms *slots_search_best(const struct slots_tried *tried,
                                            const struct policy_search_found found[],
                                            size_t loads,
                                            struct arena *arena)
{
    struct slots_terms *terms = arena_array(arena, loads, sizeof *terms);
    for (size_t l = 0; terms != NULL && l < loads; l++)
        terms[l] = tried->terms[found[l].ranks[0].candidate];
    return terms;
}
