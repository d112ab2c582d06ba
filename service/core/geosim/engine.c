#include "core/geosim/engine.h"

#include <math.h>

#include "base/whole.h"
#include "core/geosim/asking.h"
#include "core/geosim/luck.h"

/* Progress is told once in so many slots that were looked at. */
struct engine {
    const struct geosim_terms *terms;
    struct board board;
    struct asking asking;
    double slot;         /* of now */
    size_t next_arrival; /* workflow */
    struct heap changes; /* of clusters: slot in which an outage begins or ends */
    bool changed;        /* since the last plan, so that another may do something */
    bool restless;       /* the last plan moved something */
    double *flow_s;
    double last_s; /* end of the last workflow */
};

struct geosim_terms geosim_terms_usual(const struct geo_planner *planner)
{
    return (struct geosim_terms){.planner = geo_parameters_default(planner),
                                 .clone_running = true,
                                 .points = 8,
                                 .horizon_s = HUGE_VAL};
}

static const struct geosim_world *world_of(const struct engine *engine)
{
    return engine->board.world;
}

static double slot_of(const struct engine *engine, double at_s)
{
    return whole_ceil(at_s / world_of(engine)->slot_s);
}

/* --- what happens at the beginning of a slot --- */

static bool finish_copies(struct engine *engine)
{
    struct board *board = &engine->board;
    double ends_s;
    uint32_t copy;
    while (board_next_end(board, &ends_s, &copy) && slot_of(engine, ends_s) <= engine->slot) {
        uint32_t workflow = board->tasks[board->copies[copy].task].workflow;
        bool last;
        if (!board_finish(board, copy, &last))
            return false;
        engine->changed = true;
        if (!last)
            continue;
        engine->last_s = fmax(engine->last_s, ends_s);
        engine->flow_s[workflow] = ends_s - board->workload->workflows[workflow].arrives_s;
    }
    return true;
}

/* The cluster's next outage, which could begin in slot `from`. */
static void expect_outage(struct engine *engine, size_t cluster, double from)
{
    double calm = luck_calm(engine->board.seed, cluster, engine->board.clusters[cluster].outages,
                            world_of(engine)->clusters[cluster].unreachable_probability);
    if (isfinite(calm))
        heap_push(&engine->changes, from + calm, cluster);
}

static void change_clusters(struct engine *engine)
{
    struct board *board = &engine->board;
    double length = fmax(1, slot_of(engine, world_of(engine)->outage_s));
    size_t lost = board->counts.lost;
    while (engine->changes.n > 0 && heap_top(&engine->changes).key <= engine->slot) {
        struct heap_item change = heap_pop(&engine->changes);
        size_t cluster = (size_t)change.value;
        if (board->clusters[cluster].down) {
            engine->changed = true;
            board_regain(board, cluster);
            expect_outage(engine, cluster, change.key);
        } else {
            board_lose(board, cluster);
            heap_push(&engine->changes, change.key + length, cluster);
        }
    }
    engine->changed |= board->counts.lost > lost;
}

static bool take_arrivals(struct engine *engine)
{
    const struct geosim_workload *workload = engine->board.workload;
    while (engine->next_arrival < workload->n_workflows &&
           slot_of(engine, workload->workflows[engine->next_arrival].arrives_s) <= engine->slot) {
        engine->changed = true;
        if (!board_arrive(&engine->board, engine->next_arrival++))
            return false;
    }
    return true;
}

static enum pv_code plan(struct engine *engine, struct pv_error *err)
{
    bool again = engine->restless && asking_repeats(&engine->asking);
    size_t moves = 0;
    enum pv_code code = PV_OK;
    if ((engine->changed || again || asking_watches(&engine->asking)) &&
        asking_is_due(&engine->asking)) {
        code = asking_plan(&engine->asking, &moves, err);
        engine->changed = false;
    }
    engine->restless = moves > 0;
    return code;
}

/* --- from slot to slot --- */

/* The next one in which something can change. HUGE_VAL: none. */
static double find_next_slot(struct engine *engine)
{
    const struct geosim_workload *workload = engine->board.workload;
    double next = HUGE_VAL;
    double ends_s;
    uint32_t copy;
    bool alive = engine->board.n_alive > 0;
    if (alive &&
        (asking_watches(&engine->asking) || (engine->restless && asking_repeats(&engine->asking))))
        return engine->slot + 1;
    if (board_next_end(&engine->board, &ends_s, &copy))
        next = slot_of(engine, ends_s);
    if (engine->next_arrival < workload->n_workflows)
        next = fmin(next, slot_of(engine, workload->workflows[engine->next_arrival].arrives_s));
    if (engine->changes.n > 0 && (alive || next < HUGE_VAL))
        next = fmin(next, heap_top(&engine->changes).key);
    return next;
}

/* Nothing runs, nobody comes, and no plan would start anything even if every cluster were up: what
 * is left never ends. */
static enum pv_code look_for_end(struct engine *engine, bool *over, struct pv_error *err)
{
    bool starts = true;
    enum pv_code code = PV_OK;
    if (engine->board.running == 0 && engine->board.n_alive > 0 &&
        engine->next_arrival == engine->board.workload->n_workflows)
        code = asking_suppose(&engine->asking, &starts, err);
    *over = !starts || engine->board.counts.finished == engine->board.workload->n_workflows;
    return code;
}

static enum pv_code live_slot(struct engine *engine, struct pv_error *err)
{
    engine->board.now_s = engine->slot * world_of(engine)->slot_s;
    bool ok = finish_copies(engine);
    if (ok)
        change_clusters(engine);
    if (!ok || !take_arrivals(engine))
        return pv_no_memory(err);
    return plan(engine, err);
}

static enum pv_code
live(struct engine *engine, const struct geosim_progress *progress, struct pv_error *err)
{
    size_t all = engine->board.workload->n_workflows;
    double horizon = engine->terms->horizon_s / world_of(engine)->slot_s;
    bool over = all == 0;
    enum pv_code code = PV_OK;
    for (size_t turn = 0; code == PV_OK && !over; turn++) {
        if (turn > 0)
            engine->slot = find_next_slot(engine);
        if (engine->slot > horizon) {
            engine->board.now_s = engine->terms->horizon_s;
            break;
        }
        code = live_slot(engine, err);
        if (code == PV_OK)
            code = look_for_end(engine, &over, err);
        if (code == PV_OK && progress != NULL &&
            !progress->tell(progress->context, engine->board.counts.finished, all))
            code = pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    }
    return code;
}

/* --- before and after --- */

static bool open_engine(struct engine *engine)
{
    struct board *board = &engine->board;
    size_t clusters = board->world->n_clusters;
    size_t n = board->workload->n_workflows;
    bool ok = board_open(board);
    ok = asking_open(&engine->asking) && ok;
    ok = heap_init(&engine->changes, board->arena, clusters) && ok;
    engine->flow_s = arena_array(board->arena, n, sizeof *engine->flow_s);
    if (!ok || engine->flow_s == NULL)
        return false;
    for (size_t m = 0; m < clusters; m++)
        expect_outage(engine, m, 0);
    for (size_t w = 0; w < n; w++)
        engine->flow_s[w] = (double)NAN;
    return true;
}

/* What is still running at the horizon counts as far as it has come. */
static bool tell(const struct engine *engine, struct geosim_result *result)
{
    const struct board *board = &engine->board;
    const struct geosim_workload *workload = board->workload;
    size_t n = board->world->n_clusters;
    double slots = 0;
    double busy = 0;
    double first = workload->n_workflows > 0 ? workload->workflows[0].arrives_s : 0;
    double span = board->now_s - first;
    double *busy_s = arena_array(board->arena, n, sizeof *busy_s);
    if (busy_s == NULL)
        return false;
    for (size_t m = 0; m < n; m++) {
        const struct board_cluster *cluster = &board->clusters[m];
        busy_s[m] = cluster->busy_s;
        for (uint32_t at = cluster->copies; at != BOARD_NONE; at = board->copies[at].after)
            busy_s[m] += board->now_s - board->copies[at].began_s;
        busy += busy_s[m];
        slots += (double)board->world->clusters[m].slots;
    }
    *result = (struct geosim_result){.flow_s = engine->flow_s,
                                     .busy_s = busy_s,
                                     .counts = board->counts,
                                     .ended_s = board->n_alive > 0 ? board->now_s : engine->last_s,
                                     .utilization = span > 0 ? busy / (slots * span) : 0,
                                     .useful = busy > 0 ? board->useful_s / busy : (double)NAN};
    return true;
}

enum pv_code geosim_run(const struct geosim_world *world,
                        const struct geosim_workload *workload,
                        const struct geosim_terms *terms,
                        uint64_t seed,
                        const struct geosim_progress *progress,
                        struct arena *arena,
                        struct geosim_result *result,
                        struct pv_error *err)
{
    struct engine engine = {
        .terms = terms,
        .board = {.world = world, .workload = workload, .seed = seed, .arena = arena}};
    engine.asking.terms = terms;
    engine.asking.board = &engine.board;
    engine.asking.progress = progress;
    enum pv_code code = PV_OK;
    if (!open_engine(&engine))
        code = pv_no_memory(err);
    if (code == PV_OK)
        code = live(&engine, progress, err);
    if (code == PV_OK && !tell(&engine, result))
        code = pv_no_memory(err);
    asking_close(&engine.asking);
    return code;
}
