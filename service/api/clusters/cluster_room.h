#ifndef API_CLUSTERS_CLUSTER_ROOM_H
#define API_CLUSTERS_CLUSTER_ROOM_H

#include "store/clusters/admission.h"

/* What is free of a cluster when it is asked for some of it. */
struct cluster_room {
    struct reservation_amounts capacity;
    struct admission_holdings held;
    struct reservation_amounts least; /* free at every instant that was looked at */
    struct reservation_amounts now;
};

/* least and now, of capacity and held. PV_E_MEMORY. */
enum pv_code cluster_room_look(struct cluster_room *room,
                               int64_t begin_us,
                               int64_t end_us,
                               struct arena *arena,
                               struct pv_error *err) PV_MUSTCHECK;

bool cluster_room_has(const struct cluster_room *room, struct reservation_amounts asked);

/* PV_E_CAPACITY, with what there is. when: "throughout that time"; earliest_us: from when on there is
 * enough; RUN_NO_INSTANT: nobody asked. */
enum pv_code cluster_room_refuse(const struct cluster_room *room,
                                 const char *when,
                                 int64_t earliest_us,
                                 struct pv_error *err);

#endif
