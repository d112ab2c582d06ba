#ifndef CORE_CLUSTER_CLUSTER_H
#define CORE_CLUSTER_CLUSTER_H

#include "base/error.h"
#include "core/cluster/traits.h"
#include "core/history/run.h"

/* A registered cluster of a team, or one that a request describes by its size alone. */
struct cluster {
    char id[37];                /* "": not stored */
    struct strview name;        /* at == NULL: not registered */
    struct strview description; /* at == NULL: none */
    struct run_label *labels;   /* sorted by key */
    size_t n_labels;
    struct cluster_traits traits;
    char price_book_id[37];    /* "": none */
    struct strview price_book; /* its name; at == NULL: none */
    int64_t version;
    int64_t created_us;
    int64_t updated_us;
};

/* "the cluster "eu-1"", with a long name shortened; without a name "the cluster of the request". */
void cluster_words(const struct cluster *cluster, char out[128]);

/* A member that a use needs: a fault at `pointer`, the cluster's name in the body, says which one
 * the cluster lacks. value: of the member, RUN_UNKNOWN where it was not specified. */
enum pv_code cluster_need(const struct cluster *cluster,
                          int64_t value,
                          const char *member,
                          const char *pointer,
                          struct pv_error *err) PV_MUSTCHECK;

/* executors x cores_per_executor, both needed, and a fault at `pointer` where that is more than
 * `most` (cores_max). */
enum pv_code cluster_count_cores(int64_t executors,
                                 int64_t cores_per_executor,
                                 int64_t most,
                                 const char *pointer,
                                 int64_t *cores,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
