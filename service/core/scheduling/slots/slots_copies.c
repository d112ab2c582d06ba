#include "core/scheduling/slots/slots_engine_internal.h"

#include <string.h>

bool slots_copies_init(struct slots_engine *engine,
                       const struct slots_speculation_terms *terms,
                       struct slots_speculation *counts)
{
    const struct slots_cluster *cluster = &engine->view.cluster;
    struct slots_copies *copies = arena_calloc(engine->arena, 1, sizeof *copies);
    size_t n = cluster->n_nodes;
    if (copies == NULL)
        return false;
    copies->terms = terms;
    copies->counts = counts;
    copies->levels_given = cluster->nodes[0].level > 0;
    copies->levels = arena_array(engine->arena, n, sizeof *copies->levels);
    copies->stragglers = arena_calloc(engine->arena, n, sizeof *copies->stragglers);
    arena_init_beside(&copies->scratch, engine->arena, 0);
    engine->copies = copies;
    if (copies->levels == NULL || copies->stragglers == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        copies->levels[i] = copies->levels_given ? cluster->nodes[i].level : 1;
    return slots_evidence_init(&copies->evidence, n, engine->view.n_jobs,
                               copies->levels_given || terms->kind != SLOTS_ESPLASH, engine->arena);
}

void slots_copies_fini(struct slots_copies *copies)
{
    arena_fini(&copies->scratch);
}

/* --- copies that wait --- */

static void withdraw(struct slots_engine *engine, size_t at)
{
    struct slots_copies *copies = engine->copies;
    struct slots_waiting_copy *waiting = copies->waiting.items;
    engine->hosting->attempts.items[waiting[at].batch].copy_waits = false;
    copies->waiting.n--;
    memmove(&waiting[at], &waiting[at + 1], (copies->waiting.n - at) * sizeof *waiting);
}

/* Which one is of this batch. */
static size_t find_waiting(const struct slots_copies *copies, size_t batch)
{
    size_t at = 0;
    while (copies->waiting.items[at].batch != batch)
        at++;
    return at;
}

void slots_copies_recheck(struct slots_engine *engine, size_t batch, bool keep, size_t min_level)
{
    size_t at = find_waiting(engine->copies, batch);
    if (keep)
        engine->copies->waiting.items[at].min_level = min_level;
    else
        withdraw(engine, at);
}

void slots_copies_ask(struct slots_engine *engine, size_t batch, size_t min_level)
{
    if (engine->batches.items[batch].count > 1)
        batch = slots_hosting_split(engine, batch);
    struct slots_waiting_copy *asked =
        batch != SLOTS_NONE ? vector_add(engine->arena, &engine->copies->waiting) : NULL;
    if (asked == NULL) {
        engine->no_memory = true;
        return;
    }
    *asked = (struct slots_waiting_copy){batch, min_level};
    engine->hosting->attempts.items[batch].copy_waits = true;
}

static bool
may_host(const struct slots_engine *engine, const struct slots_waiting_copy *copy, size_t node)
{
    const struct slots_copies *copies = engine->copies;
    return copies->terms->kind == SLOTS_LATE ||
           (!copies->stragglers[node] && copies->levels[node] >= copy->min_level &&
            node != engine->hosting->attempts.items[copy->batch].node);
}

/* The first node with room for it; SLOTS_NO_SEAT: none. */
static size_t find_node(const struct slots_engine *engine, const struct slots_waiting_copy *copy)
{
    const struct slots_batch *batch = &engine->batches.items[copy->batch];
    size_t node = slots_containers_next(engine, batch, 0);
    for (; node != SLOTS_NO_SEAT && !may_host(engine, copy, node);
         node = slots_containers_next(engine, batch, node + 1))
        engine->copies->looked++;
    engine->copies->looked++;
    return node;
}

/* The first free slot, in the order of nodes, that the copy may have; SLOTS_NO_SEAT: none. */
static size_t find_seat(const struct slots_engine *engine, const struct slots_waiting_copy *copy)
{
    const struct slots_seats *seats = &engine->hosting->seats;
    size_t found = SLOTS_NO_SEAT;
    if (engine->containers != NULL)
        return find_node(engine, copy);
    const size_t *firsts = seats->firsts[engine->batches.items[copy->batch].kind];
    for (size_t p = 0; p < seats->n_partitions; p++) {
        size_t seat = slots_seats_first(seats, firsts[p], firsts[p + 1]);
        for (; seat < firsts[p + 1] && !may_host(engine, copy, seats->items[seat].node);
             seat = slots_seats_first(seats, seat + 1, firsts[p + 1]))
            engine->copies->looked++;
        engine->copies->looked++;
        if (seat < firsts[p + 1] &&
            (found == SLOTS_NO_SEAT || seats->items[seat].node < seats->items[found].node))
            found = seat;
    }
    return found;
}

static void take_seat(struct slots_engine *engine, const struct slots_batch *copy, size_t seat)
{
    struct slots_seats *seats = &engine->hosting->seats;
    if (engine->containers != NULL) {
        slots_containers_take(engine, copy, seat);
        return;
    }
    engine->free.slots[seats->items[seat].kind][seats->items[seat].partition]--;
    slots_seats_take(seats, seat, 1);
}

static void start_copy(struct slots_engine *engine, size_t original, size_t seat)
{
    struct slots_hosting *hosting = engine->hosting;
    struct slots_batch batch = engine->batches.items[original];
    batch.given_s = engine->clock.now_s;
    batch.begun_s = (double)NAN;
    batch.seat = seat;
    take_seat(engine, &batch, seat);
    engine->copies->counts->copies++;
    size_t entry = hosting->attempts.items[original].entry;
    size_t copy = slots_batch_start(engine, &batch, entry, original);
    if (copy != SLOTS_NONE)
        hosting->attempts.items[original].twin = copy;
}

void slots_copies_place(struct slots_engine *engine)
{
    struct slots_copies *copies = engine->copies;
    for (size_t i = 0; i < copies->waiting.n;) {
        size_t batch = copies->waiting.items[i].batch;
        size_t seat = find_seat(engine, &copies->waiting.items[i]);
        if (seat == SLOTS_NO_SEAT) {
            i++;
            continue;
        }
        withdraw(engine, i);
        start_copy(engine, batch, seat);
    }
}

/* --- copies that run, and their tasks --- */

/* A copy has held its slot for nothing. */
static void waste(struct slots_engine *engine, size_t copy)
{
    engine->copies->counts->wasted_s += engine->clock.now_s - engine->batches.items[copy].given_s;
}

/* Why a copy was not the first to end (J. Wang, section 5.3.3). */
static void count_killed(struct slots_engine *engine, size_t copy, size_t original)
{
    const struct slots_attempt *attempts = engine->hosting->attempts.items;
    const struct slots_node *host = &engine->view.cluster.nodes[attempts[copy].node];
    const struct slots_node *own = &engine->view.cluster.nodes[attempts[original].node];
    struct slots_speculation *counts = engine->copies->counts;
    waste(engine, copy);
    if (attempts[copy].slowed)
        counts->killed_on_straggler++;
    else if (engine->copies->levels_given ? host->level <= own->level : host->speed <= own->speed)
        counts->killed_on_slower++;
}

static void stop(struct slots_engine *engine, size_t index)
{
    (void)event_queue_cancel(&engine->queue, engine->hosting->attempts.items[index].event);
    slots_batch_over(engine, index, false);
}

void slots_copies_end(struct slots_engine *engine, size_t index, struct slots_worked *worked)
{
    const struct slots_batch *batch = &engine->batches.items[index];
    const struct slots_attempt *attempt = &engine->hosting->attempts.items[index];
    size_t twin = attempt->twin;
    if (!slots_evidence_add(&engine->copies->evidence, attempt->node, batch->job, batch->kind,
                            worked->task_s, batch->count))
        engine->no_memory = true;
    if (attempt->copy_waits)
        withdraw(engine, find_waiting(engine->copies, index));
    if (twin == SLOTS_NONE)
        return;
    if (attempt->is_copy) {
        engine->copies->counts->useful++;
        worked->begun_s = engine->batches.items[twin].begun_s;
        worked->service_s = engine->clock.now_s - worked->begun_s;
    } else {
        count_killed(engine, twin, index);
    }
    stop(engine, twin);
}

/* The task goes on as its copy. */
static void replace(struct slots_engine *engine, size_t copy)
{
    struct slots_attempt *attempt = &engine->hosting->attempts.items[copy];
    const struct slots_batch *batch = &engine->batches.items[copy];
    attempt->is_copy = false;
    attempt->twin = SLOTS_NONE;
    engine->copies->counts->useful++;
    if (engine->follows_service && !isnan(batch->begun_s))
        slots_service_work(&engine->service, batch->job, engine->clock.now_s, 1);
}

bool slots_copies_lose(struct slots_engine *engine, size_t index)
{
    struct slots_attempt *attempts = engine->hosting->attempts.items;
    size_t twin = attempts[index].twin;
    if (attempts[index].copy_waits)
        withdraw(engine, find_waiting(engine->copies, index));
    if (twin == SLOTS_NONE)
        return true;
    if (attempts[index].is_copy) {
        attempts[twin].twin = SLOTS_NONE;
        waste(engine, index);
    } else {
        replace(engine, twin);
    }
    return false;
}

void slots_copies_job_ended(struct slots_copies *copies, size_t job)
{
    slots_evidence_job_ended(&copies->evidence, job);
}
