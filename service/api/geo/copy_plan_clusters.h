#ifndef API_GEO_COPY_PLAN_CLUSTERS_H
#define API_GEO_COPY_PLAN_CLUSTERS_H

#include "api/api.h"
#include "codec/geo/copy_plan.h"
#include "store/clusters/cluster.h"

/* Of the clusters of a request those that are registered. */
struct copy_plan_registered {
    size_t n;
    size_t *of;                   /* index in the request */
    struct cluster *cluster;      /* as registered */
    struct geo_cluster *clusters; /* all of the request, as far as they are known */
    bool *sends;                  /* of all: may tasks there have to send input? */
    bool tried;                   /* loading has begun, perhaps not for the first time */
    struct geo_problem given;     /* what it began with */
};

/*
 * Fill in what a request for a copy plan leaves to registered clusters: slots, gates, and how
 * likely a cluster is unreachable from what is registered; speeds, and failing that the
 * probability, from what was reported of them (core/geo/performance_book.h). slot_s, where the
 * request does not give it, is the shortest that one of them gives, else a second; a probability of
 * slots of another length is converted.
 *
 * asked->origin says afterwards where what was looked up is from. What it points at lives in the
 * request's arena. _load reads it, in one transaction, at HTTP_IO, where it moves to unless no
 * cluster is registered; _take computes with what was read.
 *
 * Faults of _load, under asked->clusters_at: no cluster of that name; one that lacks slots or a
 * gate; more busy slots than slots.
 */
enum pv_code copy_plan_clusters_load(struct api *api,
                                     struct http_request *request,
                                     struct codec_copy_plan *asked,
                                     struct copy_plan_registered *registered,
                                     struct pv_error *err) PV_MUSTCHECK;
enum pv_code copy_plan_clusters_take(struct arena *arena,
                                     const struct copy_plan_registered *registered,
                                     struct codec_copy_plan *asked,
                                     struct pv_error *err) PV_MUSTCHECK;

/* Fault at /jobs/J/tasks/T/operation where no cluster has speeds of it. PV_E_MEMORY. */
enum pv_code copy_plan_operations_check(const struct geo_problem *problem,
                                        struct arena *arena,
                                        struct pv_error *err) PV_MUSTCHECK;

/* Where epsilon is to be automatic, draw it from the load. After the clusters are known. */
void copy_plan_choose_epsilon(struct codec_copy_plan *asked);

#endif
