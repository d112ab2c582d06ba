#ifndef CORE_CLUSTER_PRICE_H
#define CORE_CLUSTER_PRICE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strview.h"
#include "core/history/run.h"

/*
 * What an executor, or a machine that holds several, costs for an hour, on demand and from the spot
 * market, and how time is billed (core/cluster/billing.h). What is not specified is NAN or
 * RUN_UNKNOWN; one of the first price and that of a machine is specified.
 */
struct price {
    double per_executor_hour;
    double spot_per_executor_hour; /* NAN: not sold there, or not known */
    double interruptions_per_hour; /* of one executor or machine, on average; NAN: not known */
    double per_machine_hour;
    double spot_per_machine_hour;
    int64_t machine_cores; /* one of both at least goes with a price of machines */
    int64_t machine_memory_bytes;
    double startup_billed_s;
    double minimum_billed_s;
    double billing_increment_s;
};

/* Executors, billed to the moment; NAN: not specified. */
static inline struct price
price_of_executors(double per_hour, double spot_per_hour, double interruptions_per_hour)
{
    const double none = (double)NAN;
    return (struct price){.per_executor_hour = per_hour,
                          .spot_per_executor_hour = spot_per_hour,
                          .interruptions_per_hour = interruptions_per_hour,
                          .per_machine_hour = none,
                          .spot_per_machine_hour = none,
                          .machine_cores = RUN_UNKNOWN,
                          .machine_memory_bytes = RUN_UNKNOWN,
                          .startup_billed_s = none,
                          .minimum_billed_s = none,
                          .billing_increment_s = none};
}

static inline bool price_is_of_machines(const struct price *price)
{
    return !isnan(price->per_machine_hour);
}

static inline double price_on_demand(const struct price *price)
{
    return price_is_of_machines(price) ? price->per_machine_hour : price->per_executor_hour;
}

/* NAN: not sold there, or not known. */
static inline double price_spot(const struct price *price)
{
    return price_is_of_machines(price) ? price->spot_per_machine_hour
                                       : price->spot_per_executor_hour;
}

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
