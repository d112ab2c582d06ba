/* The last run once more, stage by stage, with copies of its slow tasks and without. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/history/task_slots.h"
#include "core/stragglers/stragglers_internal.h"

/* Nodes are assigned to levels by the types of tasks that they have in common: by these stages at
 * most, those with most task time, since that takes the square of their number. More nodes are all on
 * one level. */
enum { LEVEL_STAGES_MAX = 20, LEVEL_NODES_MAX = 1000 };

struct plan {
    const struct search *search;
    const double *factors;
    size_t *slots; /* by node of the run */
    struct copy_terms terms;
};

/* --- slots --- */

double straggler_cores_per_slot(const struct run *run)
{
    double most = 1.0;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct task_slots slots =
            task_slots_of(run, run->stages[i].resource_profile_id, false);
        int64_t cores = task_slots_cores(&slots, run, run->cores_per_executor);
        int64_t each = task_slots_per_executor(&slots, run, run->cores_per_executor);
        if (!run->stages[i].skipped && cores > 0)
            most = fmax(most, each < 1 ? (double)slots.task_cores : (double)cores / (double)each);
    }
    return most;
}

/* False: the cores of a node are unknown, or no memory. */
static bool find_slots(const struct search *search, struct plan *plan)
{
    const struct run *run = search->runs;
    double each = straggler_cores_per_slot(run);
    for (size_t k = 0; k < run->n_nodes; k++) {
        if (run->nodes[k].cores < 1)
            return false;
        double slots = floor((double)run->nodes[k].cores / each + 1e-9);
        plan->slots[k] = slots < 1 ? 1 : (size_t)slots;
    }
    return run->n_nodes > 0;
}

/* --- levels of nodes, for eSplash --- */

static int by_task_time(const void *a, const void *b)
{
    const struct run_stage *x = *(const struct run_stage *const *)a;
    const struct run_stage *y = *(const struct run_stage *const *)b;
    int order = compare_double(y->task_time_s, x->task_time_s);
    return order != 0 ? order : compare_int64(x->id, y->id);
}

/* The stages of most task time, at most LEVEL_STAGES_MAX. */
static size_t pick_stages(const struct stragglers *found, const struct run_stage *picked[])
{
    size_t n = 0;
    for (size_t i = 0; i < found->n_stages; i++)
        if (straggler_has_nodes(found->stages[i].stage))
            picked[n++] = found->stages[i].stage;
    if (n > 0)
        qsort(picked, n, sizeof *picked, by_task_time);
    return n < LEVEL_STAGES_MAX ? n : LEVEL_STAGES_MAX;
}

/* Mean and number of the tasks of a stage on each node: entry `type` of each node's list. */
static void add_stage(const struct run_stage *stage,
                      size_t type,
                      size_t n_types,
                      struct speculation_finished *finished)
{
    for (int64_t i = 0; i < stage->n_tasks; i++) {
        if (stage->task_nodes[i] < 0)
            continue;
        struct speculation_finished *of = &finished[(size_t)stage->task_nodes[i] * n_types + type];
        of->mean_s += (fmax(stage->task_durations_s[i], 1e-3) - of->mean_s) / (double)++of->tasks;
        of->type = type;
    }
}

/* What the nodes have finished becomes a list of each, without the stages that it had no task of. */
static void close_lists(struct speculation_node nodes[],
                        size_t n,
                        size_t n_types,
                        struct speculation_finished *all)
{
    for (size_t k = 0; k < n; k++) {
        struct speculation_finished *own = all + k * n_types;
        size_t kept = 0;
        for (size_t t = 0; t < n_types; t++)
            if (own[t].tasks > 0)
                own[kept++] = own[t];
        nodes[k] = (struct speculation_node){.finished = own, .n_finished = kept};
    }
}

static enum pv_code
find_levels(const struct search *search, struct node_levels *levels, struct pv_error *err)
{
    struct stragglers *found = search->found;
    size_t n = search->runs->n_nodes;
    const struct run_stage **picked = arena_array(search->scratch, found->n_stages, sizeof *picked);
    struct speculation_node *nodes = arena_calloc(search->scratch, n, sizeof *nodes);
    if (picked == NULL || nodes == NULL)
        return pv_no_memory(err);
    size_t types = pick_stages(found, picked);
    struct speculation_finished *finished =
        arena_calloc(search->scratch, n, (types + 1) * sizeof *finished);
    if (finished == NULL)
        return pv_no_memory(err);
    for (size_t t = 0; t < types; t++)
        add_stage(picked[t], t, types, finished);
    close_lists(nodes, n, types, finished);
    const struct speculation_cluster cluster = {nodes, n, types};
    size_t count = n > LEVEL_NODES_MAX ? 1 : NODE_LEVELS_AUTO;
    return node_levels_find(&cluster, count, search->arena, levels, err);
}

/* --- a stage --- */

static bool prepare_stage(const struct plan *plan,
                          const struct straggler_stage *judged,
                          size_t *node,
                          struct copy_stage *stage)
{
    const struct run_stage *of = judged->stage;
    *stage = (struct copy_stage){.duration_s = of->task_durations_s,
                                 .copy_s = judged->times.expected_s,
                                 .node = node,
                                 .n_tasks = (size_t)of->n_tasks,
                                 .slots = plan->slots,
                                 .factors = plan->factors,
                                 .n_nodes = plan->search->runs->n_nodes};
    for (size_t i = 0; i < stage->n_tasks; i++) {
        if (of->task_nodes[i] < 0)
            return false;
        node[i] = (size_t)of->task_nodes[i];
    }
    return true;
}

/* What a copy takes where the task's slowness is its own, but for that of its node. */
static void
make_pessimistic(const struct plan *plan, const struct copy_stage *stage, double copy_s[])
{
    for (size_t i = 0; i < stage->n_tasks; i++)
        copy_s[i] = fmax(stage->copy_s[i], stage->duration_s[i] / plan->factors[stage->node[i]]);
}

static void add_copies(const struct straggler_stage *judged,
                       const struct copy_outcome *with,
                       struct straggler_copies *sum)
{
    /* A copy may take the slot of another's: nothing is then saved, rather lost. */
    if (judged->replayed_s > 0)
        sum->saved_s += judged->charged_s * (1 - with->makespan_s / judged->replayed_s);
    sum->copies += with->copies;
    sum->useful += with->useful;
    sum->wasted_s += with->wasted_s;
}

static enum pv_code replay_rules(struct plan *plan,
                                 const struct straggler_stage *judged,
                                 const struct copy_stage *stage,
                                 struct pv_error *err)
{
    struct arena *scratch = plan->search->scratch;
    struct straggler_speculation *speculation = &plan->search->found->speculation;
    double *copy_s = arena_array(scratch, stage->n_tasks, sizeof *copy_s);
    if (copy_s == NULL)
        return pv_no_memory(err);
    make_pessimistic(plan, stage, copy_s);
    for (enum copy_rule rule = COPY_SPARK; rule < COPY_RULES; rule++)
        for (size_t c = 0; c < STRAGGLER_CASES; c++) {
            struct copy_stage asked = *stage;
            struct copy_outcome with;
            if (c == STRAGGLER_PESSIMISTIC)
                asked.copy_s = copy_s;
            PV_TRY(copy_replay(&asked, rule, &plan->terms, scratch, &with, err));
            plan->terms.looks_max -= with.looks;
            if (with.given_up || !(plan->terms.looks_max > 0)) {
                plan->search->found->too_large = true;
                return PV_OK;
            }
            add_copies(judged, &with, &speculation->copies[rule][c]);
        }
    return PV_OK;
}

/* How long the stage would have lasted with its slow tasks as long as the median one. */
static enum pv_code replay_without(const struct plan *plan,
                                   const struct copy_stage *stage,
                                   struct straggler_stage *judged,
                                   struct pv_error *err)
{
    struct arena *scratch = plan->search->scratch;
    struct copy_stage even = *stage;
    struct copy_outcome outcome;
    double *durations = arena_array(scratch, stage->n_tasks, sizeof *durations);
    if (durations == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < stage->n_tasks; i++)
        durations[i] = stage->duration_s[i];
    for (size_t i = 0; i < judged->slow.n; i++)
        durations[judged->slow.tasks[i].task] = judged->times.median_s;
    even.duration_s = durations;
    PV_TRY(copy_replay(&even, COPY_NONE, &plan->terms, scratch, &outcome, err));
    judged->without_s =
        judged->replayed_s > 0
            ? judged->stage->duration_s * fmin(outcome.makespan_s / judged->replayed_s, 1)
            : (double)NAN;
    return PV_OK;
}

static enum pv_code
replay_stage(struct plan *plan, struct straggler_stage *judged, struct pv_error *err)
{
    struct arena *scratch = plan->search->scratch;
    struct straggler_speculation *speculation = &plan->search->found->speculation;
    struct copy_stage stage;
    struct copy_outcome outcome;
    size_t *node = arena_array(scratch, (size_t)judged->stage->n_tasks, sizeof *node);
    if (node == NULL)
        return pv_no_memory(err);
    if (!prepare_stage(plan, judged, node, &stage))
        return PV_OK;
    PV_TRY(copy_replay(&stage, COPY_NONE, &plan->terms, scratch, &outcome, err));
    judged->replayed_s = outcome.makespan_s;
    if (!isnan(judged->stage->duration_s)) {
        speculation->stages++;
        speculation->measured_s += judged->stage->duration_s;
        speculation->replayed_s += outcome.makespan_s;
    }
    PV_TRY(replay_without(plan, &stage, judged, err));
    return replay_rules(plan, judged, &stage, err);
}

/* About how many steps the replays take: a decision looks at the nodes and at what runs. */
static double count_steps(const struct plan *plan)
{
    const struct stragglers *found = plan->search->found;
    double slots = 0;
    double steps = 0;
    for (size_t k = 0; k < found->run->n_nodes; k++)
        slots += (double)plan->slots[k];
    for (size_t i = 0; i < found->n_stages; i++) {
        double tasks = (double)found->stages[i].stage->n_tasks;
        steps += tasks * ((double)found->run->n_nodes + fmin(slots, tasks));
    }
    return steps;
}

/* Figures of a part would be taken for those of the run. */
static void give_up(struct stragglers *found)
{
    found->speculation = (struct straggler_speculation){.stages = 0};
    for (size_t i = 0; i < found->n_stages; i++)
        found->stages[i].replayed_s = found->stages[i].without_s = (double)NAN;
}

static enum pv_code replay_all(struct plan *plan, struct pv_error *err)
{
    struct stragglers *found = plan->search->found;
    for (size_t i = 0; i < found->n_stages && !found->too_large; i++) {
        struct straggler_stage *judged = &found->stages[i];
        if (!straggler_has_nodes(judged->stage) || isnan(judged->stage->duration_s))
            continue;
        struct arena_mark mark = arena_mark(plan->search->scratch);
        PV_TRY(replay_stage(plan, judged, err));
        arena_rewind(plan->search->scratch, mark);
    }
    if (found->too_large) {
        give_up(found);
        return PV_OK;
    }
    for (enum copy_rule rule = COPY_SPARK; rule < COPY_RULES; rule++)
        for (size_t c = 0; c < STRAGGLER_CASES; c++) {
            struct straggler_copies *sum = &found->speculation.copies[rule][c];
            sum->duration_s = found->run->duration_s - sum->saved_s;
        }
    return PV_OK;
}

enum pv_code
straggler_replay(const struct search *search, const double factors[], struct pv_error *err)
{
    struct arena_mark mark = arena_mark(search->scratch);
    struct node_levels levels;
    struct plan plan = {.search = search,
                        .factors = factors,
                        .slots =
                            arena_array(search->scratch, search->runs->n_nodes, sizeof *plan.slots),
                        .terms = {.quantile = search->found->rule.quantile,
                                  .multiplier = search->found->rule.multiplier,
                                  .levels = &levels,
                                  .esplash = esplash_terms_default,
                                  .looks_max = search->limits->looks}};
    if (plan.slots == NULL)
        return pv_no_memory(err);
    if (!find_slots(search, &plan) || search->runs->n_nodes < 2)
        return PV_OK;
    search->found->too_large = count_steps(&plan) > search->limits->steps;
    if (search->found->too_large)
        return PV_OK;
    PV_TRY(find_levels(search, &levels, err));
    PV_TRY(replay_all(&plan, err));
    arena_rewind(search->scratch, mark);
    return PV_OK;
}
