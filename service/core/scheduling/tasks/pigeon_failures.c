/*
 * Masters of Pigeon that fail, and what becomes of their groups (Z. Li, 4.6.1; docs/design.md,
 * "Pigeon's layouts"). Workers go on whatever happens: they send results to schedulers.
 */
#include "core/scheduling/tasks/pigeon_masters.h"

#include <string.h>

static const struct pigeon_failure *failure_of(const struct tasks_run *sim, uint64_t index)
{
    return &sim->terms->layout->failures[index];
}

bool pigeon_failures_begin(struct tasks_run *sim)
{
    for (uint32_t i = 0; i < sim->terms->layout->n_failures; i++)
        if (!event_heap_schedule(&sim->events, failure_of(sim, i)->at_s, PIGEON_FAILED, i))
            return false;
    return true;
}

/* All tasks of a line, which is empty then, go to other groups, run by run as though each were a
 * job. */
static bool send_again(struct tasks_run *sim, struct line *line)
{
    struct pigeon_masters *pigeon = sim->state;
    uint32_t next;
    uint32_t place = line->head;
    *line = LINE_EMPTY;
    for (; place != LINE_END; place = next) {
        struct line_place run = *line_place_at(&pigeon->pool, place);
        next = run.next;
        line_pool_give(&pigeon->pool, place);
        const uint64_t keys[] = {TRIAL_SENT_AGAIN, sim->trial.repetition, run.job, run.item};
        struct rng stream = variate_stream(sim->trial.seed, keys, 4);
        if (!pigeon_distribute(sim, run.job, run.item, run.count, &stream))
            return false;
    }
    return true;
}

static void forget_length(const struct tasks_run *sim, struct pigeon_length *length)
{
    const struct pigeon_masters *pigeon = sim->state;
    pigeon_length_change(length, sim->now_s, pigeon->report_every_s, -(int64_t)length->now);
}

static bool send_own_again(struct tasks_run *sim, uint32_t worker)
{
    struct pigeon_masters *pigeon = sim->state;
    for (uint32_t c = 0; c < pigeon->n_classes; c++) {
        forget_length(sim, pigeon_own_length(pigeon, worker, c));
        if (!send_again(sim, pigeon_own_queue(pigeon, worker, c)))
            return false;
    }
    return true;
}

/* Schedulers know that a group is lost. */
static bool leave_out(struct tasks_run *sim, uint32_t m)
{
    struct pigeon_masters *pigeon = sim->state;
    struct pigeon_master *master = &pigeon->items[m];
    master->left_out = true;
    pigeon_spread_anew(sim);
    for (uint32_t c = 0; c < pigeon->n_classes; c++) {
        forget_length(sim, pigeon_length_of(pigeon, m, c));
        if (!send_again(sim, pigeon_queue(pigeon, m, c)))
            return false;
    }
    for (uint32_t i = 0; pigeon->own != NULL && i < master->group.workers; i++)
        if (!send_own_again(sim, master->first + i))
            return false;
    return send_again(sim, &master->held);
}

/* What a master counted, and who was idle longest, is lost with both masters. */
static void forget(struct pigeon_masters *pigeon, uint32_t m)
{
    size_t counts = (size_t)pigeon->n_classes * pigeon->n_classes;
    memset(&pigeon->in_a_row[m * counts], 0, counts * sizeof *pigeon->in_a_row);
    pigeon_workers_relist(&pigeon->workers, pigeon->items[m].first, pigeon->items[m].group.workers);
}

/* It begins with its workers and nothing else. */
static bool come_back(struct tasks_run *sim, uint32_t m)
{
    struct pigeon_masters *pigeon = sim->state;
    pigeon->items[m].lost = false;
    pigeon->items[m].left_out = false;
    forget(pigeon, m);
    pigeon_spread_anew(sim);
    return send_again(sim, &pigeon->stranded);
}

static bool lose(struct tasks_run *sim, const struct pigeon_failure *failure, uint64_t index)
{
    struct pigeon_masters *pigeon = sim->state;
    double hop_s = sim->model->communication_s;
    double known_s = failure->at_s + failure->detection_s + hop_s;
    double returned_s = failure->at_s + failure->return_s + hop_s;
    pigeon->items[failure->group].lost = true;
    return event_heap_schedule(&sim->events, known_s, PIGEON_LOSS_KNOWN, index) &&
           (isinf(returned_s) ||
            event_heap_schedule(&sim->events, returned_s, PIGEON_RETURNED, index));
}

static bool fail(struct tasks_run *sim, uint64_t index)
{
    struct pigeon_masters *pigeon = sim->state;
    const struct pigeon_failure *failure = failure_of(sim, index);
    struct pigeon_master *master = &pigeon->items[failure->group];
    double resume_s = failure->at_s + failure->detection_s + 2 * sim->model->communication_s;
    if (master->lost)
        return true;
    if (failure->recovery == PIGEON_GROUP_LOST)
        return lose(sim, failure, index);
    if (failure->recovery == PIGEON_WORKER_TAKES_OVER)
        forget(pigeon, failure->group);
    master->resume_s = fmax(master->resume_s, resume_s);
    return event_heap_schedule(&sim->events, resume_s, PIGEON_RESUMED, index);
}

/* Tasks that came meanwhile are received, unless another failure came in between. */
static bool resume(struct tasks_run *sim, uint32_t m)
{
    struct pigeon_masters *pigeon = sim->state;
    struct pigeon_master *master = &pigeon->items[m];
    uint32_t next;
    uint32_t place = master->held.head;
    if (master->lost || sim->now_s < master->resume_s)
        return true;
    master->held = LINE_EMPTY;
    for (; place != LINE_END; place = next) {
        struct line_place run = *line_place_at(&pigeon->pool, place);
        next = run.next;
        line_pool_give(&pigeon->pool, place);
        if (!pigeon_master_receive(sim, m, run.job, run.item, run.count))
            return false;
    }
    return true;
}

bool pigeon_failure_happen(struct tasks_run *sim, const struct event *event)
{
    uint32_t group = failure_of(sim, event->about)->group;
    switch (event->kind) {
    case PIGEON_FAILED:
        return fail(sim, event->about);
    case PIGEON_RESUMED:
        return resume(sim, group);
    case PIGEON_LOSS_KNOWN:
        return leave_out(sim, group);
    default:
        return come_back(sim, group);
    }
}
