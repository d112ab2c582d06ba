#ifndef CORE_CLUSTER_PRICE_H
#define CORE_CLUSTER_PRICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strview.h"

/* What an executor costs for an hour, on demand and from the spot market. */
struct price {
    double per_executor_hour;
    double spot_per_executor_hour; /* NAN: not sold there, or not known */
    double interruptions_per_hour; /* of one executor, on average; NAN: not known */
};

/* A row of a price book: the price of one type of machine, or of one cluster by its name. */
struct price_row {
    struct strview machine_type; /* one of both */
    struct strview cluster;
    struct price price;
};

/* What a book says of a cluster: the row that names it, else that of its type of machine. */
struct price_found {
    struct strview currency;
    struct price_row row; /* its cluster is set where the row names the cluster */
};

/* The price book of a team. */
struct price_book {
    char id[37]; /* "": not stored */
    struct strview name;
    struct strview currency;
    int64_t row_count;      /* also where the rows are not loaded */
    struct price_row *rows; /* in the order they were put */
    size_t n_rows;
    int64_t version;
    int64_t created_us;
    int64_t updated_us;
};

#endif
