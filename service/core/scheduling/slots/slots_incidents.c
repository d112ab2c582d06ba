/* What happens to nodes: they are slowed, stand still, or are down. */
#include "core/scheduling/slots/slots_engine_internal.h"

bool slots_incidents_init(struct slots_engine *engine)
{
    struct slots_hosting *hosting = engine->hosting;
    const struct slots_cluster *cluster = hosting->cluster;
    size_t n = cluster->n_incidents;
    hosting->under_way = arena_calloc(engine->arena, n, sizeof *hosting->under_way);
    hosting->next_incident = arena_array(engine->arena, n, sizeof *hosting->next_incident);
    if (hosting->under_way == NULL || hosting->next_incident == NULL)
        return false;
    for (size_t i = n; i-- > 0;) {
        const struct slots_incident *incident = &cluster->incidents[i];
        hosting->next_incident[i] = hosting->nodes[incident->node].incident;
        hosting->nodes[incident->node].incident = i;
        (void)slots_schedule(engine, SLOTS_INCIDENT_CHANGES, incident->at_s, i);
        (void)slots_schedule(engine, SLOTS_INCIDENT_CHANGES, incident->until_s, i);
    }
    return !engine->no_memory;
}

/* --- speed --- */

static double factor_of(const struct slots_hosting *hosting, size_t node)
{
    double factor = 1;
    for (size_t i = hosting->nodes[node].incident; i != SLOTS_NONE; i = hosting->next_incident[i])
        if (hosting->under_way[i] && !hosting->cluster->incidents[i].down)
            factor *= hosting->cluster->incidents[i].speed_factor;
    return factor;
}

static void change_speed(struct slots_engine *engine, size_t node)
{
    struct slots_hosting *hosting = engine->hosting;
    struct slots_node_state *state = &hosting->nodes[node];
    double factor = factor_of(hosting, node);
    if (factor == state->factor)
        return;
    for (size_t i = state->first; i != SLOTS_NONE; i = hosting->attempts.items[i].after) {
        struct slots_attempt *attempt = &hosting->attempts.items[i];
        attempt->slowed = attempt->slowed || factor < 1;
        if (isnan(engine->batches.items[i].begun_s))
            continue;
        attempt->done_s = slots_hosting_done(engine, i);
        attempt->since_s = engine->clock.now_s;
        attempt->steady =
            attempt->steady && engine->batches.items[i].begun_s == engine->clock.now_s;
        (void)event_queue_cancel(&engine->queue, attempt->event);
    }
    state->factor = factor;
    for (size_t i = state->first; i != SLOTS_NONE; i = hosting->attempts.items[i].after)
        if (!isnan(engine->batches.items[i].begun_s))
            slots_hosting_plan_end(engine, i);
}

/* --- down --- */

void slots_batch_lose(struct slots_engine *engine, size_t index)
{
    const struct slots_batch batch = engine->batches.items[index];
    const struct slots_attempt attempt = engine->hosting->attempts.items[index];
    double now_s = engine->clock.now_s;
    bool begun = !isnan(batch.begun_s);
    bool pending = true; /* again */
    (void)event_queue_cancel(&engine->queue, attempt.event);
    slots_hosting_wait_no_more(engine, index);
    if (engine->follows_service && begun && !attempt.is_copy)
        slots_service_rest(&engine->service, batch.job, now_s, batch.count, batch.begun_s,
                           now_s - batch.begun_s);
    if (engine->copies != NULL)
        pending = slots_copies_lose(engine, index);
    slots_batch_over(engine, index, false);
    if (!pending)
        return;
    engine->counts[batch.job].held[batch.kind] -= batch.count;
    engine->counts[batch.job].pending[batch.kind] += batch.count;
    slots_observe_held(engine, batch.kind, batch.job, -(double)batch.count);
    slots_observe_pending(engine, batch.kind, (double)batch.count);
    slots_hosting_put_lost(engine, &batch, attempt.entry);
    slots_engine_changed(engine, batch.kind, batch.job);
}

/* Its free slots are taken out of those that are given, or put back; and what is on it can be fetched
 * no more, or again. */
static void open_node(struct slots_engine *engine, size_t node, bool open)
{
    struct slots_seats *seats = &engine->hosting->seats;
    if (slots_has_network(engine))
        slots_network_open(engine, node, open);
    if (engine->containers != NULL) {
        slots_containers_open(engine, node);
        return;
    }
    for (size_t s = seats->of_node[node]; s != SLOTS_NO_SEAT; s = seats->items[s].next) {
        const struct slots_seat *seat = &seats->items[s];
        size_t *free = &engine->free.slots[seat->kind][seat->partition];
        *free = open ? *free + seat->free : *free - seat->free;
        slots_seats_open(seats, s, open);
    }
}

static void change_downs(struct slots_engine *engine, size_t node, bool down)
{
    struct slots_node_state *state = &engine->hosting->nodes[node];
    if (!down) {
        if (--state->downs == 0)
            open_node(engine, node, true);
        return;
    }
    if (state->downs++ > 0)
        return;
    open_node(engine, node, false);
    while (state->first != SLOTS_NONE)
        slots_batch_lose(engine, state->first);
}

void slots_incident_change(struct slots_engine *engine, size_t incident)
{
    struct slots_hosting *hosting = engine->hosting;
    const struct slots_incident *changed = &hosting->cluster->incidents[incident];
    bool begins = !hosting->under_way[incident];
    hosting->under_way[incident] = begins;
    if (changed->down)
        change_downs(engine, changed->node, begins);
    else
        change_speed(engine, changed->node);
}
