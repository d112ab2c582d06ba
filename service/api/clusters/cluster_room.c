#include "api/clusters/cluster_room.h"

#include <stdio.h>

#include "base/instant.h"
#include "base/plural.h"
#include "base/quantity_text.h"

enum pv_code cluster_room_look(struct cluster_room *room,
                               int64_t begin_us,
                               int64_t end_us,
                               struct arena *arena,
                               struct pv_error *err)
{
    const struct admission_holdings *held = &room->held;
    return reservations_free(held->items, held->n, room->capacity, begin_us, end_us, arena,
                             &room->least) &&
                   reservations_free(held->items, held->n, room->capacity, held->now_us,
                                     held->now_us + 1, arena, &room->now)
               ? PV_OK
               : pv_no_memory(err);
}

bool cluster_room_has(const struct cluster_room *room, struct reservation_amounts asked)
{
    return asked.quanta <= room->least.quanta &&
           (asked.memory_bytes == RUN_UNKNOWN || asked.memory_bytes <= room->least.memory_bytes);
}

enum pv_code cluster_room_refuse(const struct cluster_room *room,
                                 const char *when,
                                 int64_t earliest_us,
                                 struct pv_error *err)
{
    char from[INSTANT_TEXT + 40] = "";
    char at[INSTANT_TEXT];
    if (err == NULL)
        return PV_E_CAPACITY;
    err->room = (struct pv_room){.given = true,
                                 .cores = reservation_cores(room->least.quanta),
                                 .cores_now = reservation_cores(room->now.quanta),
                                 .memory_bytes = room->least.memory_bytes,
                                 .memory_bytes_now = room->now.memory_bytes,
                                 .earliest_us = earliest_us};
    if (earliest_us != RUN_NO_INSTANT) {
        instant_format(earliest_us, at);
        (void)snprintf(from, sizeof from, "; enough is free from %s on", at);
    }
    double cores = reservation_cores(room->capacity.quanta);
    return pv_fail(
        err, PV_E_CAPACITY, "too little of the cluster is free %s: %s of its %s core%s%s", when,
        quantity_number(err->room.cores).text, quantity_number(cores).text, PLURAL(cores), from);
}
