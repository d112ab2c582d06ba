#ifndef CORE_CLUSTER_PRICE_H
#define CORE_CLUSTER_PRICE_H

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

#endif
