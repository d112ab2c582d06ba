#include "core/geosim/asking.h"

#include <math.h>

#include "core/geo/planning.h"

/* What is remembered of rates is forgotten when it takes more than this. */
enum { KEPT_BYTES_MAX = 96 << 20, WORK_BYTES = 1 << 20 };

#define FOREVER_S 1e12

static const struct geo_planner *planner_of(const struct asking *asking)
{
    return asking->terms->planner.planner;
}

static bool sees_running(const struct asking *asking)
{
    const struct geo_planner *planner = planner_of(asking);
    return planner->observes_running_copies &&
           (asking->terms->clone_running || !planner->clones_running_tasks);
}

bool asking_watches(const struct asking *asking)
{
    return planner_of(asking)->observes_time;
}

bool asking_repeats(const struct asking *asking)
{
    return planner_of(asking)->clones_running_tasks && asking->terms->clone_running;
}

bool asking_is_due(const struct asking *asking)
{
    return sees_running(asking) ? asking->board->n_alive > 0 : asking->board->ready > 0;
}

/* --- what is shown --- */

static bool goes_on(void *context)
{
    const struct asking *asking = context;
    const struct geosim_progress *progress = asking->progress;
    return progress->tell(progress->context, asking->board->counts.finished,
                          asking->board->workload->n_workflows);
}

static struct geo_problem show_world(const struct asking *asking)
{
    return (struct geo_problem){.clusters = asking->estimates.clusters,
                                .n_clusters = asking->board->world->n_clusters,
                                .links = asking->estimates.links,
                                .n_links = asking->estimates.n_links,
                                .n_operations = asking->board->workload->n_operations,
                                .slot_s = asking->board->world->slot_s};
}

/* Gates are shown without the room that copies take which are not shown. */
static void show_clusters(struct asking *asking)
{
    const struct board *board = asking->board;
    bool all = sees_running(asking);
    for (size_t m = 0; m < board->world->n_clusters; m++) {
        const struct geosim_cluster *is = &board->world->clusters[m];
        const struct board_cluster *now = &board->clusters[m];
        struct geo_cluster *shown = &asking->estimates.clusters[m];
        shown->busy_slots = now->down && !asking->supposing ? is->slots : now->busy;
        shown->ingress_bytes_per_s = fmax(0, is->ingress_bytes_per_s - (all ? 0 : now->ingress));
        shown->egress_bytes_per_s = fmax(0, is->egress_bytes_per_s - (all ? 0 : now->egress));
    }
}

static bool show_copies(struct asking *asking, uint32_t task, struct geo_task *shown)
{
    const struct board *board = asking->board;
    const struct board_task *state = &board->tasks[task];
    struct geo_running *running = arena_array(&asking->work, state->n_copies, sizeof *running);
    if (running == NULL)
        return false;
    for (uint32_t at = state->copies; at != BOARD_NONE; at = board->copies[at].sibling) {
        const struct board_copy *copy = &board->copies[at];
        double elapsed = board->now_s - copy->began_s;
        running[shown->n_copies++] = (struct geo_running){
            copy->cluster, elapsed, fmin(copy->pace * elapsed, shown->size_bytes)};
    }
    shown->copies = running;
    return true;
}

/* The job's open tasks that are to be seen; what they are called on the board goes to `names`. */
static bool show_job(struct asking *asking, uint32_t index, struct geo_job *job, uint32_t **names)
{
    const struct board *board = asking->board;
    const struct board_workflow *workflow = &board->workflows[index];
    const struct board_level *level = &workflow->levels[workflow->level];
    struct geo_task *tasks = arena_array(&asking->work, workflow->n_open, sizeof *tasks);
    bool all = sees_running(asking);
    *names = arena_array(&asking->work, workflow->n_open, sizeof **names);
    if (tasks == NULL || *names == NULL)
        return false;
    *job = (struct geo_job){.tasks = tasks,
                            .stage_tasks = level->tasks,
                            .done_tasks = level->done,
                            .median_duration_s = (double)NAN,
                            .hidden_copies = all ? 0 : workflow->running};
    if (level->done > 0)
        job->median_duration_s =
            (level->durations[(level->done - 1) / 2] + level->durations[level->done / 2]) / 2;
    for (size_t i = 0; i < workflow->n_open; i++) {
        uint32_t task = workflow->open[i];
        const struct board_task *state = &board->tasks[task];
        const struct geosim_task *is = board_task(board, task);
        job->unprocessed_bytes += is->input_bytes;
        if (state->n_copies > 0 && !all)
            continue;
        struct geo_task *shown = &tasks[job->n_tasks];
        *shown = (struct geo_task){.operation = is->operation,
                                   .size_bytes = is->input_bytes,
                                   .inputs = state->inputs,
                                   .n_inputs = state->n_inputs,
                                   .waited_s = asking->supposing ? FOREVER_S
                                                                 : board->now_s - state->ready_s};
        if (state->n_copies > 0 && !show_copies(asking, task, shown))
            return false;
        (*names)[job->n_tasks++] = task;
    }
    return true;
}

/* --- what is done --- */

/* Slots and gates have the last word. false: memory. */
static bool carry_out(struct asking *asking,
                      const struct geo_plan *plan,
                      uint32_t *const names[],
                      size_t *moves)
{
    struct board *board = asking->board;
    *moves = plan->n_cancellations;
    for (size_t i = 0; i < plan->n_cancellations; i++)
        board_stop(board, names[plan->cancellations[i].job][plan->cancellations[i].task],
                   plan->cancellations[i].cluster);
    for (size_t i = 0; i < plan->n_copies; i++) {
        const struct geo_plan_copy *copy = &plan->copies[i];
        uint32_t task = names[copy->job][copy->task];
        if (!board_has_room(board, task, copy->cluster, copy->rate_bytes_per_s)) {
            board->counts.refused++;
            continue;
        }
        if (!board_start(board, task, copy->cluster, copy->rate_bytes_per_s))
            return false;
        ++*moves;
    }
    return true;
}

static bool refresh_rates(struct asking *asking)
{
    const struct geo_problem problem = show_world(asking);
    if (asking->rates != NULL && asking->kept.total <= KEPT_BYTES_MAX)
        return true;
    arena_fini(&asking->kept);
    arena_init(&asking->kept, 0);
    asking->rates = geo_rates_make(&problem, &asking->kept);
    return asking->rates != NULL;
}

/* The plan lives until the next one; what its tasks are called on the board is in *names. */
static enum pv_code
ask(struct asking *asking, struct geo_plan *plan, uint32_t ***names, struct pv_error *err)
{
    const struct board *board = asking->board;
    struct geo_problem problem = show_world(asking);
    arena_rewind(&asking->work, asking->empty);
    struct geo_job *jobs = arena_array(&asking->work, board->n_alive, sizeof *jobs);
    *names = arena_array(&asking->work, board->n_alive, sizeof **names);
    bool ok = jobs != NULL && *names != NULL && refresh_rates(asking);
    for (size_t j = 0; ok && j < board->n_alive; j++)
        ok = show_job(asking, board->alive[j], &jobs[j], &(*names)[j]);
    if (!ok)
        return pv_no_memory(err);
    show_clusters(asking);
    problem.jobs = jobs;
    problem.n_jobs = board->n_alive;
    const struct geo_interrupt interrupt = {goes_on, asking};
    struct geo_parameters parameters = asking->terms->planner;
    geo_parameters_resolve(&parameters, &problem);
    return geo_plan_make(&problem, &parameters, asking->rates,
                         asking->progress != NULL ? &interrupt : NULL, &asking->work, plan, err);
}

enum pv_code asking_plan(struct asking *asking, size_t *moves, struct pv_error *err)
{
    struct geo_plan plan;
    uint32_t **names;
    enum pv_code code = ask(asking, &plan, &names, err);
    asking->board->counts.plans++;
    if (code == PV_OK && !carry_out(asking, &plan, names, moves))
        code = pv_no_memory(err);
    return code;
}

enum pv_code asking_suppose(struct asking *asking, bool *starts, struct pv_error *err)
{
    struct geo_plan plan;
    uint32_t **names;
    asking->supposing = true;
    enum pv_code code = ask(asking, &plan, &names, err);
    asking->supposing = false;
    *starts = code == PV_OK && plan.n_copies > 0;
    return code;
}

/* --- */

bool asking_open(struct asking *asking)
{
    struct board *board = asking->board;
    arena_init(&asking->kept, 0);
    arena_init(&asking->work, 0);
    asking->rates = NULL;
    bool ok = arena_alloc(&asking->work, WORK_BYTES) != NULL;
    asking->empty = arena_mark(&asking->work);
    asking->empty.used = 0; /* a first block that stays */
    return estimates_make(board->world, board->workload, asking->terms->points, board->arena,
                          &asking->estimates) &&
           ok;
}

void asking_close(struct asking *asking)
{
    arena_fini(&asking->kept);
    arena_fini(&asking->work);
}
