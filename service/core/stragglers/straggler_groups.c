/* Stages of the last run that ran side by side, and what other divisions of the slots would give. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/stragglers/stragglers_internal.h"

/* Larger groups are left out: a choice looks at every stage of the group. */
static const double STEPS_MAX = 5e7;

static int by_start(const void *a, const void *b)
{
    const struct run_stage *x = *(const struct run_stage *const *)a;
    const struct run_stage *y = *(const struct run_stage *const *)b;
    int order = compare_double(x->started_s, y->started_s);
    return order != 0 ? order : compare_int64(x->id, y->id);
}

/* Stages whose tasks and times are known, by their start. */
static size_t collect_stages(const struct stragglers *found, const struct run_stage *list[])
{
    size_t n = 0;
    for (size_t i = 0; i < found->n_stages; i++) {
        const struct run_stage *stage = found->stages[i].stage;
        if (!isnan(stage->started_s) && stage->duration_s > 0)
            list[n++] = stage;
    }
    if (n > 0)
        qsort(list, n, sizeof *list, by_start);
    return n;
}

/* A stage of a group by its id. */
struct member {
    int64_t id;
    size_t place;
};

static int by_id(const void *a, const void *b)
{
    const struct member *x = a;
    const struct member *y = b;
    return compare_int64(x->id, y->id);
}

/* The members of a group among the parents of a stage, which come before it, in their order. */
static size_t find_parents(const struct member members[],
                           size_t n,
                           const struct run_stage *stage,
                           size_t at,
                           size_t parents[])
{
    size_t found = 0;
    for (size_t p = 0; p < stage->n_parents; p++) {
        const struct member wanted = {stage->parents[p], 0};
        const struct member *member = bsearch(&wanted, members, n, sizeof *members, by_id);
        if (member != NULL && member->place < at)
            parents[found++] = member->place;
    }
    if (found > 0)
        qsort(parents, found, sizeof *parents, order_by_size);
    return found;
}

static bool prepare_group(const struct run_stage *const group[],
                          size_t n,
                          struct arena *scratch,
                          struct shared_stage stages[])
{
    struct member *members = arena_array(scratch, n, sizeof *members);
    if (members == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        members[i] = (struct member){group[i]->id, i};
    qsort(members, n, sizeof *members, by_id);
    for (size_t i = 0; i < n; i++) {
        size_t *parents = arena_array(scratch, group[i]->n_parents, sizeof *parents);
        if (parents == NULL)
            return false;
        stages[i] = (struct shared_stage){.durations_s = group[i]->task_durations_s,
                                          .n_tasks = (size_t)group[i]->n_tasks,
                                          .released_s = group[i]->started_s - group[0]->started_s,
                                          .parents = parents};
        stages[i].n_parents = find_parents(members, n, group[i], i, parents);
        /* It began when these had ended; it will again, be that sooner or later. */
        if (stages[i].n_parents > 0)
            stages[i].released_s = 0;
    }
    return true;
}

static enum share_rule rule_of(const struct run *run)
{
    for (size_t i = 0; i < run->n_spark_properties; i++)
        if (strview_is(run->spark_properties[i].key, "spark.scheduler.mode"))
            return strview_is(run->spark_properties[i].value, "FAIR") ? SHARE_FAIR : SHARE_FIFO;
    return SHARE_FIFO;
}

static enum pv_code replay_group(const struct search *search,
                                 const struct run_stage *const group[],
                                 size_t n,
                                 double measured_s,
                                 struct straggler_group *made,
                                 struct pv_error *err)
{
    struct arena_mark mark = arena_mark(search->scratch);
    struct shared_stage *stages = arena_array(search->scratch, n, sizeof *stages);
    int64_t *ids = arena_array(search->arena, n, sizeof *ids);
    if (stages == NULL || ids == NULL || !prepare_group(group, n, search->scratch, stages))
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        ids[i] = group[i]->id;
    *made = (struct straggler_group){
        .stage_ids = ids, .n = n, .measured_s = measured_s, .rule_of_run = rule_of(search->runs)};
    for (enum share_rule rule = SHARE_FIFO; rule < SHARE_RULES; rule++) {
        PV_TRY(concurrent_replay(stages, n, search->found->slots, rule, search->scratch,
                                 &made->rules[rule], err));
        if (made->rules[rule].makespan_s < made->rules[made->best].makespan_s * (1 - 1e-9))
            made->best = rule;
    }
    arena_rewind(search->scratch, mark);
    return PV_OK;
}

/* How many of the n stages from `list` on overlap the first, directly or through others. */
static size_t take_group(const struct run_stage *const list[], size_t n, double *end_s)
{
    size_t taken = 0;
    *end_s = list[0]->started_s;
    while (taken < n && (taken == 0 || list[taken]->started_s < *end_s)) {
        *end_s = fmax(*end_s, list[taken]->started_s + list[taken]->duration_s);
        taken++;
    }
    return taken;
}

static bool is_feasible(const struct run_stage *const group[], size_t n)
{
    double tasks = 0;
    for (size_t i = 0; i < n; i++)
        tasks += (double)group[i]->n_tasks;
    return n > 1 && tasks * (double)n <= STEPS_MAX;
}

enum pv_code straggler_find_groups(const struct search *search, struct pv_error *err)
{
    struct stragglers *found = search->found;
    const struct run *run = search->runs;
    struct arena_mark mark = arena_mark(search->scratch);
    const struct run_stage **list = arena_array(search->scratch, found->n_stages, sizeof *list);
    found->groups = arena_array(search->arena, found->n_stages, sizeof *found->groups);
    if (list == NULL || found->groups == NULL)
        return pv_no_memory(err);
    if (run->executors < 1 || run->cores_per_executor < 1)
        return PV_OK;
    /* More slots than tasks make no difference; a log may claim any number of cores. */
    double slots =
        (double)run->executors * (double)run->cores_per_executor / straggler_cores_per_slot(run);
    found->slots = (size_t)fmin(fmax(slots + 1e-9, 1), 1e9);
    size_t n = collect_stages(found, list);
    for (size_t i = 0, taken; i < n; i += taken) {
        double end_s;
        taken = take_group(list + i, n - i, &end_s);
        if (!is_feasible(list + i, taken))
            continue;
        struct straggler_group *made = &found->groups[found->n_groups++];
        PV_TRY(replay_group(search, list + i, taken, end_s - list[i]->started_s, made, err));
    }
    arena_rewind(search->scratch, mark);
    return PV_OK;
}
