#include "core/scheduling/slots/slots_engine_internal.h"

bool slots_hosting_init(struct slots_engine *engine)
{
    const struct slots_cluster *cluster = &engine->view.cluster;
    struct arena *arena = engine->arena;
    size_t n = cluster->n_nodes;
    struct slots_hosting *hosting = arena_calloc(arena, 1, sizeof *hosting);
    if (hosting == NULL)
        return false;
    engine->hosting = hosting;
    hosting->cluster = cluster;
    hosting->lost_over = SLOTS_NONE;
    hosting->nodes = arena_array(arena, n, sizeof *hosting->nodes);
    hosting->lost_of = arena_array(arena, engine->view.n_jobs, sizeof *hosting->lost_of);
    if (hosting->nodes == NULL || hosting->lost_of == NULL ||
        (engine->containers == NULL &&
         !slots_seats_init(&hosting->seats, cluster, &engine->free,
                           engine->policy->choose_shared != NULL, arena)))
        return false;
    for (size_t i = 0; i < n; i++)
        hosting->nodes[i] = (struct slots_node_state){
            .factor = 1, .incident = SLOTS_NONE, .first = SLOTS_NONE, .last = SLOTS_NONE};
    for (size_t i = 0; i < engine->view.n_jobs; i++)
        hosting->lost_of[i][SLOTS_MAP] = hosting->lost_of[i][SLOTS_REDUCE] =
            (struct slots_lost_list){SLOTS_NONE, SLOTS_NONE};
    return slots_incidents_init(engine);
}

void slots_hosting_give(
    struct slots_engine *engine, enum slots_kind kind, size_t partition, size_t job, size_t count)
{
    struct slots_seats *seats = &engine->hosting->seats;
    const size_t *range = &seats->firsts[kind][partition];
    size_t seat = range[0];
    while (count > 0) {
        seat = slots_seats_first(seats, seat, range[1]);
        size_t free = seats->items[seat].free;
        size_t taken = free < count ? free : count;
        slots_seats_take(seats, seat, taken);
        slots_batches_give(engine, kind, seat, job, taken);
        count -= taken;
    }
}

/* --- the batches of a node --- */

/* Before another batch of the node; SLOTS_NONE: behind all. */
static void link_batch(struct slots_hosting *hosting, size_t index, size_t after)
{
    struct slots_attempt *attempt = &hosting->attempts.items[index];
    struct slots_node_state *node = &hosting->nodes[attempt->node];
    size_t before = after == SLOTS_NONE ? node->last : hosting->attempts.items[after].before;
    attempt->before = before;
    attempt->after = after;
    *(before == SLOTS_NONE ? &node->first : &hosting->attempts.items[before].after) = index;
    *(after == SLOTS_NONE ? &node->last : &hosting->attempts.items[after].before) = index;
}

static void unlink_batch(struct slots_hosting *hosting, size_t index)
{
    const struct slots_attempt *attempt = &hosting->attempts.items[index];
    struct slots_node_state *node = &hosting->nodes[attempt->node];
    size_t before = attempt->before;
    size_t after = attempt->after;
    *(before == SLOTS_NONE ? &node->first : &hosting->attempts.items[before].after) = after;
    *(after == SLOTS_NONE ? &node->last : &hosting->attempts.items[after].before) = before;
}

/* What there is to know of a batch has the batch's index. */
static struct slots_attempt *add_attempt(struct slots_engine *engine, size_t index)
{
    struct slots_hosting *hosting = engine->hosting;
    while (index >= hosting->attempts.n)
        if (vector_add(engine->arena, &hosting->attempts) == NULL) {
            engine->no_memory = true;
            return NULL;
        }
    return &hosting->attempts.items[index];
}

bool slots_hosting_add(struct slots_engine *engine, size_t index, size_t entry, size_t twin)
{
    struct slots_hosting *hosting = engine->hosting;
    struct slots_attempt *attempt = add_attempt(engine, index);
    if (attempt == NULL)
        return false;
    size_t seat = engine->batches.items[index].seat;
    size_t node = engine->containers != NULL ? seat : hosting->seats.items[seat].node;
    *attempt = (struct slots_attempt){.ends_s = HUGE_VAL,
                                      .steady = true,
                                      .is_copy = twin != SLOTS_NONE,
                                      .slowed = hosting->nodes[node].factor < 1,
                                      .entry = entry,
                                      .node = node,
                                      .twin = twin,
                                      .epoch_done = (double)NAN};
    link_batch(hosting, index, SLOTS_NONE);
    return true;
}

size_t slots_hosting_split(struct slots_engine *engine, size_t index)
{
    struct slots_batch single = engine->batches.items[index];
    single.count = 1;
    size_t split = slots_batch_add(engine, &single);
    struct slots_attempt *attempt = split != SLOTS_NONE ? add_attempt(engine, split) : NULL;
    if (attempt == NULL)
        return SLOTS_NONE;
    engine->batches.items[index].count--;
    *attempt = engine->hosting->attempts.items[index];
    link_batch(engine->hosting, split, index);
    if (attempt->event != 0)
        attempt->event = slots_schedule(engine, SLOTS_TASKS_END, attempt->ends_s, split);
    engine->hosting->working++;
    return split;
}

/* For how long its containers were held. */
static void count_allocated(struct slots_engine *engine, const struct slots_batch *batch)
{
    const struct slots_resources *request = &engine->jobs[batch->job].requests[batch->kind];
    double held_s = (double)batch->count * (engine->clock.now_s - batch->given_s);
    engine->allocated.vcores_s += held_s * (double)request->vcores;
    engine->allocated.memory_byte_s += held_s * (double)request->memory_bytes;
}

void slots_hosting_over(struct slots_engine *engine, size_t index)
{
    struct slots_hosting *hosting = engine->hosting;
    const struct slots_batch *batch = &engine->batches.items[index];
    bool up = hosting->nodes[hosting->attempts.items[index].node].downs == 0;
    unlink_batch(hosting, index);
    if (!isnan(batch->begun_s))
        hosting->working--;
    if (engine->jobs[batch->job].requests != NULL)
        count_allocated(engine, batch);
    if (engine->containers != NULL) {
        slots_containers_release(engine, batch);
        return;
    }
    const struct slots_seat *seat = &hosting->seats.items[batch->seat];
    slots_seats_release(&hosting->seats, batch->seat, batch->count, up);
    if (up)
        engine->free.slots[seat->kind][seat->partition] += batch->count;
}

/* --- reduces that wait for maps --- */

void slots_hosting_wait(struct slots_hosting *hosting, size_t index, size_t first)
{
    struct slots_attempt *attempts = hosting->attempts.items;
    attempts[index].waits = true;
    attempts[index].waits_behind = SLOTS_NONE;
    if (first != SLOTS_NONE)
        attempts[first].waits_behind = index;
}

void slots_hosting_wait_no_more(struct slots_engine *engine, size_t index)
{
    struct slots_attempt *attempts = engine->hosting->attempts.items;
    struct slots_batch *batches = engine->batches.items;
    size_t before = attempts[index].waits_behind;
    size_t after = batches[index].next;
    if (!attempts[index].waits)
        return;
    attempts[index].waits = false;
    if (after != SLOTS_NONE)
        attempts[after].waits_behind = before;
    if (before != SLOTS_NONE)
        batches[before].next = after;
    else
        engine->progress[batches[index].job].waiting = after;
}

/* --- work --- */

void slots_hosting_plan(struct slots_engine *engine, size_t index, event_id event)
{
    engine->hosting->attempts.items[index].event = event;
}

void slots_hosting_plan_end(struct slots_engine *engine, size_t index)
{
    struct slots_attempt *attempt = &engine->hosting->attempts.items[index];
    double left_s = engine->batches.items[index].duration_s - attempt->done_s;
    double speed = slots_hosting_speed(engine->hosting, attempt->node);
    attempt->event = 0;
    attempt->ends_s = HUGE_VAL;
    if (!(speed > 0))
        return;
    attempt->ends_s = engine->clock.now_s + left_s / speed;
    attempt->event = slots_schedule(engine, SLOTS_TASKS_END, attempt->ends_s, index);
}

bool slots_hosting_begin(struct slots_engine *engine, size_t index)
{
    struct slots_attempt *attempt = &engine->hosting->attempts.items[index];
    attempt->since_s = engine->clock.now_s;
    engine->hosting->working++;
    slots_hosting_plan_end(engine, index);
    return !attempt->is_copy;
}

double slots_hosting_done(const struct slots_engine *engine, size_t index)
{
    const struct slots_attempt *attempt = &engine->hosting->attempts.items[index];
    double speed = slots_hosting_speed(engine->hosting, attempt->node);
    double done_s = attempt->done_s + (engine->clock.now_s - attempt->since_s) * speed;
    return fmin(done_s, engine->batches.items[index].duration_s);
}

struct slots_worked slots_hosting_end(struct slots_engine *engine, size_t *index)
{
    struct slots_attempt *attempts = engine->hosting->attempts.items;
    double now_s = engine->clock.now_s;
    size_t twin = attempts[*index].twin;
    if (attempts[*index].is_copy && twin != SLOTS_NONE && attempts[twin].ends_s == now_s) {
        *index = twin;
        (void)event_queue_cancel(&engine->queue, attempts[twin].event);
    }
    const struct slots_batch *batch = &engine->batches.items[*index];
    double speed = slots_hosting_speed(engine->hosting, attempts[*index].node);
    double task_s = attempts[*index].steady ? batch->duration_s / speed : now_s - batch->begun_s;
    struct slots_worked worked = {batch->begun_s, task_s, task_s};
    if (engine->copies != NULL)
        slots_copies_end(engine, *index, &worked);
    return worked;
}

/* --- tasks that were lost --- */

bool slots_hosting_take_lost(
    struct slots_engine *engine, enum slots_kind kind, size_t job, size_t *entry, size_t *count)
{
    struct slots_hosting *hosting = engine->hosting;
    struct slots_lost_list *list = &hosting->lost_of[job][kind];
    size_t over = list->first;
    if (over == SLOTS_NONE)
        return false;
    struct slots_lost *lost = &hosting->lost.items[over];
    *entry = lost->entry;
    if (*count < lost->count) {
        lost->count -= *count;
        return true;
    }
    *count = lost->count;
    list->first = lost->next;
    if (list->latest == over)
        list->latest = SLOTS_NONE;
    lost->next = hosting->lost_over;
    hosting->lost_over = over;
    return true;
}

static size_t new_lost(struct slots_engine *engine)
{
    struct slots_hosting *hosting = engine->hosting;
    size_t index = hosting->lost_over;
    if (index != SLOTS_NONE) {
        hosting->lost_over = hosting->lost.items[index].next;
        return index;
    }
    if (vector_add(engine->arena, &hosting->lost) == NULL) {
        engine->no_memory = true;
        return SLOTS_NONE;
    }
    return hosting->lost.n - 1;
}

/* Where tasks of an entry belong: what is to come before them; SLOTS_NONE: they are the first. A node
 * loses its tasks in the order in which they were given, so that the next ones belong behind those
 * that were put there last. */
static size_t
place_of_lost(const struct slots_hosting *hosting, const struct slots_lost_list *list, size_t entry)
{
    const struct slots_lost *lost = hosting->lost.items;
    bool behind = list->latest != SLOTS_NONE && lost[list->latest].entry <= entry;
    size_t before = behind ? list->latest : SLOTS_NONE;
    size_t at = behind ? lost[before].next : list->first;
    for (; at != SLOTS_NONE && lost[at].entry <= entry; at = lost[at].next)
        before = at;
    return before;
}

void slots_hosting_put_lost(struct slots_engine *engine,
                            const struct slots_batch *batch,
                            size_t entry)
{
    struct slots_hosting *hosting = engine->hosting;
    struct slots_lost_list *list = &hosting->lost_of[batch->job][batch->kind];
    size_t before = place_of_lost(hosting, list, entry);
    engine->given_tasks -= batch->count;
    if (before != SLOTS_NONE && hosting->lost.items[before].entry == entry) {
        hosting->lost.items[before].count += batch->count;
        list->latest = before;
        return;
    }
    size_t fresh = new_lost(engine);
    if (fresh == SLOTS_NONE)
        return;
    size_t *at = before == SLOTS_NONE ? &list->first : &hosting->lost.items[before].next;
    hosting->lost.items[fresh] = (struct slots_lost){entry, batch->count, *at};
    *at = list->latest = fresh;
}
