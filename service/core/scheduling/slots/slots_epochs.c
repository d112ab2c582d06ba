/* The decisions on speculation at the end of each epoch: what they are based on, and what follows. */
#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/scheduling/slots/slots_engine_internal.h"
#include "core/scheduling/speculation/late.h"

/* Whole numbers are exact in doubles up to here: later epochs cannot be told from each other. */
static const double EPOCHS_MAX = 0x1p53;

/* What a decision takes besides its looks at nodes and tasks, in as many of these; and how many take as
 * long as a step of the engine. */
enum { LOOKS_OF_A_DECISION = 32, LOOKS_OF_A_STEP = 16 };

/* What a decision sees, and which batch each of its tasks is of. */
struct scene {
    struct speculation_cluster cluster;
    struct speculation_node *nodes;
    struct speculation_task *tasks;
    size_t *batches; /* by task */
    size_t *firsts;  /* by node: its first task */
};

static bool works(const struct slots_engine *engine, size_t batch)
{
    return !isnan(engine->batches.items[batch].begun_s);
}

static size_t count_tasks(const struct slots_engine *engine)
{
    const struct slots_hosting *hosting = engine->hosting;
    size_t n = 0;
    for (size_t node = 0; node < hosting->cluster->n_nodes; node++)
        for (size_t i = hosting->nodes[node].first; i != SLOTS_NONE;
             i = hosting->attempts.items[i].after)
            n += works(engine, i) ? engine->batches.items[i].count : 0;
    return n;
}

/* As a decision sees each task of a batch, whose progress is noted for the next epoch. */
static struct speculation_task take_task(struct slots_engine *engine, size_t index, size_t type)
{
    const struct slots_batch *batch = &engine->batches.items[index];
    struct slots_attempt *attempt = &engine->hosting->attempts.items[index];
    double progress = slots_hosting_done(engine, index) / batch->duration_s;
    double made = fmax(0, progress - attempt->epoch_done);
    bool young = isnan(attempt->epoch_done);
    bool runs = attempt->twin != SLOTS_NONE && !attempt->is_copy;
    attempt->epoch_done = progress;
    return (struct speculation_task){
        .type = type,
        .elapsed_s = engine->clock.now_s - batch->begun_s,
        .progress = progress,
        .progress_rate_per_s = young ? (double)NAN : made / engine->copies->terms->epoch_s,
        .copy = runs                  ? SPECULATION_COPY_RUNS
                : attempt->copy_waits ? SPECULATION_COPY_WAITS
                                      : SPECULATION_NO_COPY,
        .is_copy = attempt->is_copy};
}

/* false: out of memory. */
static bool take_running(struct slots_engine *engine, struct scene *scene, size_t node, size_t *at)
{
    const struct slots_hosting *hosting = engine->hosting;
    scene->firsts[node] = *at;
    for (size_t i = hosting->nodes[node].first; i != SLOTS_NONE;
         i = hosting->attempts.items[i].after) {
        const struct slots_batch *batch = &engine->batches.items[i];
        if (!works(engine, i))
            continue;
        size_t type = slots_evidence_type(&engine->copies->evidence, batch->job, batch->kind);
        if (type == SPECULATION_NONE)
            return false;
        struct speculation_task task = take_task(engine, i, type);
        for (size_t k = 0; k < batch->count; k++) {
            scene->batches[*at] = i;
            scene->tasks[(*at)++] = task;
        }
    }
    scene->nodes[node].running = scene->tasks + scene->firsts[node];
    scene->nodes[node].n_running = *at - scene->firsts[node];
    return true;
}

static bool take_scene(struct slots_engine *engine, struct scene *scene)
{
    struct slots_copies *copies = engine->copies;
    const struct slots_cluster *cluster = &engine->view.cluster;
    size_t n = count_tasks(engine);
    size_t at = 0;
    *scene = (struct scene){
        .nodes = arena_calloc(&copies->scratch, cluster->n_nodes, sizeof *scene->nodes),
        .tasks = arena_array(&copies->scratch, n, sizeof *scene->tasks),
        .batches = arena_array(&copies->scratch, n, sizeof *scene->batches),
        .firsts = arena_array(&copies->scratch, cluster->n_nodes, sizeof *scene->firsts)};
    if (scene->nodes == NULL || scene->tasks == NULL || scene->batches == NULL ||
        scene->firsts == NULL)
        return false;
    slots_evidence_begin(&copies->evidence);
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        const size_t *slots = cluster->nodes[i].slots;
        scene->nodes[i].containers = slots[SLOTS_MAP] + slots[SLOTS_REDUCE];
        if (!take_running(engine, scene, i, &at))
            return false;
    }
    if (!slots_evidence_take(&copies->evidence, &copies->scratch, scene->nodes))
        return false;
    scene->cluster =
        (struct speculation_cluster){scene->nodes, cluster->n_nodes, copies->evidence.types.n};
    return true;
}

static double count_looks(const struct slots_engine *engine, const struct scene *scene)
{
    double looks = LOOKS_OF_A_DECISION + (double)scene->cluster.n_types;
    for (size_t i = 0; i < scene->cluster.n_nodes; i++)
        looks += 1 + (double)scene->nodes[i].n_running + (double)scene->nodes[i].n_finished;
    return looks + (double)engine->copies->waiting.n;
}

/* Which batch a task is of. */
static size_t batch_at(const struct scene *scene, struct speculation_place place)
{
    return scene->batches[scene->firsts[place.node] + place.task];
}

/* --- LATE --- */

static enum pv_code decide_late(struct slots_engine *engine,
                                const struct scene *scene,
                                size_t *chosen,
                                struct pv_error *err)
{
    struct late_decision decision;
    PV_TRY(late_decide(&scene->cluster, &engine->copies->scratch, &decision, err));
    if (decision.action != SPECULATION_NONE)
        *chosen = batch_at(scene, decision.candidates[decision.action].place);
    return PV_OK;
}

/* --- eSplash --- */

static enum pv_code find_levels(struct slots_engine *engine,
                                const struct scene *scene,
                                struct node_levels *levels,
                                struct pv_error *err)
{
    struct slots_copies *copies = engine->copies;
    size_t n = scene->cluster.n_nodes;
    if (copies->levels_given) {
        *levels = node_levels_given(copies->levels, n);
        return PV_OK;
    }
    size_t count = copies->terms->level_count;
    PV_TRY(node_levels_find(&scene->cluster, count, &copies->scratch, levels, err));
    /* Every node is compared with every other, or with each level. */
    copies->looked +=
        (double)levels->common_types * (double)n * (double)(count == NODE_LEVELS_AUTO ? n : count);
    for (size_t i = 0; i < n; i++)
        copies->levels[i] = levels->level[i];
    return PV_OK;
}

/* Copies that wait are kept, and for which level they wait, or withdrawn. */
static void recheck(struct slots_engine *engine,
                    const struct scene *scene,
                    const struct esplash_decision *decision)
{
    for (size_t r = 0; r < decision->n_rechecks; r++) {
        const struct esplash_candidate *found = &decision->rechecks[r];
        size_t batch = batch_at(scene, found->place);
        slots_copies_recheck(engine, batch, esplash_keeps(found), found->min_level);
    }
}

static enum pv_code decide_esplash(struct slots_engine *engine,
                                   const struct scene *scene,
                                   size_t *chosen,
                                   size_t *min_level,
                                   struct pv_error *err)
{
    struct slots_copies *copies = engine->copies;
    struct node_levels levels;
    struct esplash_decision decision;
    PV_TRY(find_levels(engine, scene, &levels, err));
    PV_TRY(esplash_decide(&scene->cluster, &levels, &copies->terms->esplash, &copies->scratch,
                          &decision, err));
    for (size_t i = 0; i < scene->cluster.n_nodes; i++)
        copies->stragglers[i] = decision.nodes[i].straggler;
    copies->looked +=
        (double)(decision.n_candidates + decision.n_rechecks) * (double)levels.highest;
    recheck(engine, scene, &decision);
    if (decision.action.candidate == SPECULATION_NONE)
        return PV_OK;
    const struct esplash_candidate *candidate = &decision.candidates[decision.action.candidate];
    *chosen = batch_at(scene, candidate->place);
    *min_level = candidate->min_level;
    return PV_OK;
}

/* --- epochs --- */

static enum pv_code decide(struct slots_engine *engine, struct pv_error *err)
{
    struct slots_copies *copies = engine->copies;
    struct scene scene;
    size_t chosen = SLOTS_NONE;
    size_t min_level = 0;
    arena_clear(&copies->scratch);
    if (!take_scene(engine, &scene))
        return pv_no_memory(err);
    copies->looked += count_looks(engine, &scene);
    if (copies->terms->kind == SLOTS_LATE)
        PV_TRY(decide_late(engine, &scene, &chosen, err));
    else
        PV_TRY(decide_esplash(engine, &scene, &chosen, &min_level, err));
    if (chosen != SLOTS_NONE)
        slots_copies_ask(engine, chosen, min_level);
    slots_copies_place(engine);
    return engine->no_memory ? pv_no_memory(err) : PV_OK;
}

double slots_copies_next(const struct slots_engine *engine)
{
    const struct slots_copies *copies = engine->copies;
    return engine->hosting->working > 0 ? copies->epoch * copies->terms->epoch_s : HUGE_VAL;
}

/* A decision, where it is the end of an epoch. */
static enum pv_code end_epoch(struct slots_engine *engine, struct pv_error *err)
{
    struct slots_copies *copies = engine->copies;
    double now_s = engine->clock.now_s;
    double epoch_s = copies->terms->epoch_s;
    if (copies->epoch * epoch_s < now_s)
        copies->epoch = floor(now_s / epoch_s);
    if (!(copies->epoch < EPOCHS_MAX))
        return pv_fault(err, PV_PLACE_POINTER, "/policies", "out_of_range",
                        "epoch_s of %s s is too short to be counted after %s s",
                        quantity_digits(epoch_s, 3).text, quantity_digits(now_s, 3).text);
    while (copies->epoch * epoch_s < now_s)
        copies->epoch++;
    if (copies->epoch * epoch_s > now_s)
        return PV_OK;
    copies->epoch++;
    return engine->hosting->working > 0 ? decide(engine, err) : PV_OK;
}

enum pv_code slots_copies_epoch(struct slots_engine *engine, struct pv_error *err)
{
    struct slots_copies *copies = engine->copies;
    size_t most = copies->terms->looks_max;
    PV_TRY(end_epoch(engine, err));
    /* Also what copies that wait took at this instant. */
    engine->looked_through += (size_t)((copies->looked - copies->reported) / LOOKS_OF_A_STEP);
    copies->reported = copies->looked;
    if (most > 0 && copies->looked > (double)most)
        return pv_fault(err, PV_PLACE_POINTER, "/policies", "out_of_range",
                        "decisions on copies, with an epoch_s of %s, look at nodes and tasks "
                        "more than %zu time%s in a simulation (its share of "
                        "simulation_speculation_looks_max)",
                        quantity_digits(copies->terms->epoch_s, 3).text, most, PLURAL(most));
    return PV_OK;
}
