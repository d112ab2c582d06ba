#ifndef CORE_CLUSTER_CLUSTER_H
#define CORE_CLUSTER_CLUSTER_H

#include "core/cluster/traits.h"
#include "core/history/run.h"

/* A registered cluster of a team. */
struct cluster {
    char id[37]; /* "": not stored */
    struct strview name;
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

#endif
