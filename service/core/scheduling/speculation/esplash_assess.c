/* What a copy of a task would bring, and on which nodes (Alg. 5.2.3 of the dissertation). */
#include <math.h>

#include "base/rounding.h"
#include "core/scheduling/speculation/esplash_internal.h"

/* What is expected of copies of one type of tasks, by level from 1 on. */
struct outlook {
    bool known;         /* a task of the type has finished somewhere */
    double *mean_s;     /* EstT; NULL: no task of the type is assessed */
    double *expected_s; /* ExpT: of a copy on this level or above; NAN: no container there */
    size_t *min_level;  /* of a task on this level; 0: not asked for yet */
};

struct assessment {
    const struct speculation_cluster *cluster;
    const struct node_levels *levels;
    struct arena *arena;
    double *containers; /* C, by level: of nodes that are no stragglers */
    double all_containers;
    struct outlook *outlooks; /* by type */
};

/* --- which tasks --- */

typedef bool (*wanted_fn)(const struct esplash_node *node, const struct speculation_task *task);

static bool is_candidate(const struct esplash_node *node, const struct speculation_task *task)
{
    return node->straggler && task->copy == SPECULATION_NO_COPY && !task->is_copy;
}

static bool is_recheck(const struct esplash_node *node, const struct speculation_task *task)
{
    (void)node;
    return task->copy == SPECULATION_COPY_WAITS;
}

/* list NULL: only their number. */
static size_t list_wanted(const struct speculation_cluster *cluster,
                          const struct esplash_node nodes[],
                          wanted_fn wanted,
                          struct esplash_candidate list[])
{
    size_t n = 0;
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        for (size_t t = 0; t < cluster->nodes[i].n_running; t++) {
            if (!wanted(&nodes[i], &cluster->nodes[i].running[t]))
                continue;
            if (list != NULL)
                list[n] = (struct esplash_candidate){.place = {i, t}};
            n++;
        }
    }
    return n;
}

static enum pv_code collect(const struct assessment *assessment,
                            const struct esplash_node nodes[],
                            wanted_fn wanted,
                            struct esplash_candidate **list,
                            size_t *n,
                            struct pv_error *err)
{
    *n = list_wanted(assessment->cluster, nodes, wanted, NULL);
    *list = arena_array(assessment->arena, *n, sizeof **list);
    if (*list == NULL)
        return pv_no_memory(err);
    (void)list_wanted(assessment->cluster, nodes, wanted, *list);
    return PV_OK;
}

static const struct speculation_task *task_of(const struct assessment *assessment,
                                              const struct esplash_candidate *candidate)
{
    return &assessment->cluster->nodes[candidate->place.node].running[candidate->place.task];
}

/* --- what is expected of copies of their types --- */

/* Without means yet, of the types in the list that have none. */
static enum pv_code add_outlooks(const struct assessment *assessment,
                                 const struct esplash_candidate list[],
                                 size_t n,
                                 struct pv_error *err)
{
    size_t places = assessment->levels->highest + 1;
    for (size_t i = 0; i < n; i++) {
        struct outlook *outlook = &assessment->outlooks[task_of(assessment, &list[i])->type];
        if (outlook->mean_s != NULL)
            continue;
        outlook->mean_s = arena_array(assessment->arena, places, sizeof *outlook->mean_s);
        outlook->expected_s = arena_array(assessment->arena, places, sizeof *outlook->expected_s);
        outlook->min_level = arena_calloc(assessment->arena, places, sizeof *outlook->min_level);
        if (outlook->mean_s == NULL || outlook->expected_s == NULL || outlook->min_level == NULL)
            return pv_no_memory(err);
        for (size_t l = 0; l < places; l++)
            outlook->mean_s[l] = (double)NAN;
    }
    return PV_OK;
}

static void take_means(const struct assessment *assessment, const struct esplash_decision *decision)
{
    for (size_t r = 0; r < decision->n_table; r++) {
        const struct esplash_statistics *row = &decision->table[r];
        struct outlook *outlook = &assessment->outlooks[row->type];
        if (outlook->mean_s == NULL || row->tasks == 0)
            continue;
        outlook->mean_s[row->level] = row->mean_s;
        outlook->known = true;
    }
}

/* Levels where none has finished take the mean of the nearest level below, or else above. */
static void fill_means(double mean_s[], size_t highest)
{
    for (size_t l = 2; l <= highest; l++) {
        if (isnan(mean_s[l]))
            mean_s[l] = mean_s[l - 1];
    }
    for (size_t l = highest; l-- > 1;) {
        if (isnan(mean_s[l]))
            mean_s[l] = mean_s[l + 1];
    }
}

/* A copy is served by any container of its levels with equal probability. */
static void expect_copies(const struct assessment *assessment, struct outlook *outlook)
{
    double containers = 0;
    double time_s = 0;
    for (size_t l = assessment->levels->highest; l >= 1; l--) {
        containers += assessment->containers[l];
        time_s += assessment->containers[l] * outlook->mean_s[l];
        outlook->expected_s[l] = containers > 0 ? time_s / containers : (double)NAN;
    }
}

static enum pv_code find_outlooks(const struct assessment *assessment,
                                  const struct esplash_decision *decision,
                                  struct pv_error *err)
{
    PV_TRY(add_outlooks(assessment, decision->candidates, decision->n_candidates, err));
    PV_TRY(add_outlooks(assessment, decision->rechecks, decision->n_rechecks, err));
    take_means(assessment, decision);
    for (size_t t = 0; t < assessment->cluster->n_types; t++) {
        struct outlook *outlook = &assessment->outlooks[t];
        if (!outlook->known)
            continue;
        fill_means(outlook->mean_s, assessment->levels->highest);
        expect_copies(assessment, outlook);
    }
    return PV_OK;
}

/* --- what a copy brings --- */

/* From a task's level on; there is a container. */
static size_t find_min_level(const struct outlook *outlook, size_t level, size_t highest)
{
    size_t best = level;
    for (size_t l = level + 1; l <= highest && !isnan(outlook->expected_s[l]); l++) {
        if (outlook->expected_s[l] < outlook->expected_s[best] &&
            !rounding_equal(outlook->expected_s[l], outlook->expected_s[best]))
            best = l;
    }
    return best;
}

static double find_value_s(const struct assessment *assessment,
                           const struct outlook *outlook,
                           const struct speculation_task *task,
                           size_t level,
                           size_t min_level)
{
    double rest_s =
        speculation_has_progress(task) ? speculation_remaining_s(task) : outlook->mean_s[level];
    double saved_s = 0;
    for (size_t l = min_level; l <= assessment->levels->highest; l++)
        saved_s += assessment->containers[l] * (rest_s - outlook->mean_s[l]);
    return saved_s / assessment->all_containers;
}

static void assess(const struct assessment *assessment, struct esplash_candidate *candidate)
{
    const struct speculation_task *task = task_of(assessment, candidate);
    const struct outlook *outlook = &assessment->outlooks[task->type];
    size_t level = assessment->levels->level[candidate->place.node];
    size_t highest = assessment->levels->highest;
    candidate->value_s = (double)NAN;
    if (!outlook->known) {
        candidate->reason = ESPLASH_NO_STATISTICS;
        return;
    }
    if (isnan(outlook->expected_s[level])) {
        candidate->reason = ESPLASH_NO_HOST;
        return;
    }
    size_t *min_level = &outlook->min_level[level];
    if (*min_level == 0)
        *min_level = find_min_level(outlook, level, highest);
    candidate->reason = ESPLASH_ASSESSED;
    candidate->expected_s = &outlook->expected_s[level];
    candidate->n_expected = highest - level + 1;
    candidate->min_level = *min_level;
    candidate->value_s = find_value_s(assessment, outlook, task, level, *min_level);
}

static void count_containers(struct assessment *assessment, const struct esplash_node nodes[])
{
    for (size_t i = 0; i < assessment->cluster->n_nodes; i++) {
        if (nodes[i].straggler)
            continue;
        double containers = (double)assessment->cluster->nodes[i].containers;
        assessment->containers[assessment->levels->level[i]] += containers;
        assessment->all_containers += containers;
    }
}

enum pv_code esplash_assess(const struct speculation_cluster *cluster,
                            const struct node_levels *levels,
                            struct arena *arena,
                            struct esplash_decision *decision,
                            struct pv_error *err)
{
    struct assessment assessment = {
        .cluster = cluster,
        .levels = levels,
        .arena = arena,
        .containers = arena_calloc(arena, levels->highest + 1, sizeof *assessment.containers),
        .outlooks = arena_calloc(arena, cluster->n_types, sizeof *assessment.outlooks),
    };
    if (assessment.containers == NULL || assessment.outlooks == NULL)
        return pv_no_memory(err);
    PV_TRY(collect(&assessment, decision->nodes, is_candidate, &decision->candidates,
                   &decision->n_candidates, err));
    PV_TRY(collect(&assessment, decision->nodes, is_recheck, &decision->rechecks,
                   &decision->n_rechecks, err));
    count_containers(&assessment, decision->nodes);
    PV_TRY(find_outlooks(&assessment, decision, err));
    for (size_t i = 0; i < decision->n_candidates; i++)
        assess(&assessment, &decision->candidates[i]);
    for (size_t i = 0; i < decision->n_rechecks; i++)
        assess(&assessment, &decision->rechecks[i]);
    return PV_OK;
}
