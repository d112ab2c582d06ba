#ifndef CORE_GEO_PERFORMANCE_BOOK_H
#define CORE_GEO_PERFORMANCE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/code.h"
#include "base/error.h"
#include "base/strview.h"
#include "core/geo/performance.h"
#include "core/geo/reachability.h"

/*
 * What is known of the speeds of some clusters and of the links between them, for a plan. What a
 * cluster, or a pair of clusters, was not observed to do itself is taken from clusters of the same
 * type of machine (a pair: from pairs of the same two types), and failing that from all clusters of
 * the team; every answer says which it was.
 *
 * Made by store_performance_book (store/clusters/performance_book.h), which adds what it read and
 * closes it.
 */
enum performance_source {
    PERFORMANCE_NONE,         /* nobody ever observed it */
    PERFORMANCE_CLUSTER,      /* the cluster, or the pair of clusters, itself */
    PERFORMANCE_MACHINE_TYPE, /* clusters of the same machine_type */
    PERFORMANCE_TEAM,         /* all clusters of the team */
    PERFORMANCE_SOURCES
};

/* On the wire: none, cluster, machine_type, team. */
const char *performance_source_name(enum performance_source source);

struct performance_entry {
    struct speeds speeds; /* n 0 where the source is PERFORMANCE_NONE */
    enum performance_source source;
    double weight;     /* faded number of samples behind it */
    int64_t samples;   /* their number, not faded */
    int64_t newest_us; /* instant of the newest; RUN_NO_INSTANT: none. Its age is now_us - this */
};

enum unreachable_source {
    UNREACHABLE_CONFIGURED, /* the cluster's own unreachable_probability, as registered */
    UNREACHABLE_MEASURED,   /* from its reports and the prior */
    UNREACHABLE_PRIOR,      /* it never reported: the prior alone */
    UNREACHABLE_SOURCES
};

/* On the wire: configured, measured, prior. */
const char *unreachable_source_name(enum unreachable_source source);

struct unreachable_entry {
    enum unreachable_source source;
    double probability;           /* in a slot of the length asked for */
    struct reachability measured; /* whatever the source is */
    size_t outages;               /* that are kept, not faded */
    int64_t first_us;             /* what was reported on; RUN_NO_INSTANT: nothing */
    int64_t newest_us;
};

/* A cluster that is asked about. */
struct performance_place {
    char id[37];                 /* "": not registered, so it has nothing of its own */
    struct strview machine_type; /* at == NULL: unknown */
    double configured;           /* its unreachable_probability; NAN: not configured */
    double slot_s;               /* > 0: length of a slot of time there */
};

struct performance_ask {
    const struct performance_place *places;
    size_t n_places;
    const struct strview *operations; /* each once */
    size_t n_operations;
    const bool *sends; /* of each place: links from it are wanted; NULL: from all */
    const bool *runs;  /* likewise, its processing and links to it */
    struct performance_terms terms;
    int64_t outage_half_life_s;
    struct reachability_prior prior;
    int64_t now_us;
};

/* Indices are those of the ask. Answers live as long as the book does; many share one. */
struct performance_book;

/* Never NULL: ask for its source, which is PERFORMANCE_NONE where it is not wanted. */
const struct performance_entry *
performance_book_processing(const struct performance_book *book, size_t place, size_t operation);

/* Likewise, of two different places. */
const struct performance_entry *
performance_book_transfer(const struct performance_book *book, size_t from, size_t to);

/* By the prior alone where the place is not wanted. */
const struct unreachable_entry *performance_book_unreachable(const struct performance_book *book,
                                                             size_t place);

/* --- for whoever makes one --- */

/* Borrows the ask. Lives in the arena; NULL when memory is exhausted. */
struct performance_book *performance_book_open(const struct performance_ask *ask,
                                               struct arena *arena);

/* What was observed of a place, of a pair, that is wanted. Each once. PV_E_MEMORY. */
enum pv_code performance_book_add_processing(struct performance_book *book,
                                             size_t place,
                                             size_t operation,
                                             const struct performance *observed,
                                             struct pv_error *err) PV_MUSTCHECK;
enum pv_code performance_book_add_transfer(struct performance_book *book,
                                           size_t from,
                                           size_t to,
                                           const struct performance *observed,
                                           struct pv_error *err) PV_MUSTCHECK;
void performance_book_add_outages(struct performance_book *book,
                                  size_t place,
                                  const struct outage outages[],
                                  size_t n,
                                  int64_t first_us,
                                  int64_t newest_us);

/* Whether something has nothing of its own, so that the pools are of use. */
bool performance_book_lacks_processing(const struct performance_book *book, size_t operation);
bool performance_book_lacks_transfers(const struct performance_book *book);

/* What clusters of the team observed, those asked about among them. Types: at == NULL, unknown. */
enum pv_code performance_book_pool_processing(struct performance_book *book,
                                              size_t operation,
                                              struct strview machine_type,
                                              const struct performance *observed,
                                              struct pv_error *err) PV_MUSTCHECK;
enum pv_code performance_book_pool_transfer(struct performance_book *book,
                                            struct strview from_type,
                                            struct strview to_type,
                                            const struct performance *observed,
                                            struct pv_error *err) PV_MUSTCHECK;

/* The last step: whatever is still unknown is taken from the pools. */
enum pv_code performance_book_close(struct performance_book *book,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif
