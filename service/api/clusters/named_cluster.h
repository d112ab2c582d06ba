#ifndef API_CLUSTERS_NAMED_CLUSTER_H
#define API_CLUSTERS_NAMED_CLUSTER_H

#include "api/api.h"
#include "codec/clusters/given_cluster.h"
#include "store/clusters/cluster.h"

/* A registered cluster that a request names where it could give the size itself. */

/* pointer: of the name in the body. PV_E_INVALID with a fault there when there is none. */
enum pv_code named_cluster_load(struct api *api,
                                struct http_request *request,
                                struct strview name,
                                const char *pointer,
                                struct cluster *cluster,
                                struct pv_error *err) PV_MUSTCHECK;

/* The cluster that a request names, or describes by its size; it has one of both. */
enum pv_code given_cluster_load(struct api *api,
                                struct http_request *request,
                                const struct codec_given_cluster *given,
                                const char *pointer,
                                struct cluster *cluster,
                                struct pv_error *err) PV_MUSTCHECK;

/* As named_cluster_load, within a transaction that is open. */
enum pv_code named_cluster_find(struct store_tx *tx,
                                struct arena *arena,
                                struct strview name,
                                const char *pointer,
                                struct cluster *cluster,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
