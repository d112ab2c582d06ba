#ifndef API_ADVICE_PREDICTION_CACHE_H
#define API_ADVICE_PREDICTION_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/advice/history_prediction.h"
#include "store/history/run.h"

/*
 * Predicted curves, ready to choose from: what makes a repeated question cost one insert and
 * nothing else. Bounded (least recently used goes first), safe from any thread. An item is
 * immutable once published and lives until its last holder lets go, also when it has left the
 * cache.
 *
 * An item counts as fresh for max_age_ms after it was confirmed against the application's
 * history_version; then whoever wants it confirms it again. From half that time on one caller at a
 * time is to do so, so that an item in use is not confirmed by a crowd. Writes through this process
 * invalidate at once, so that a caller reads what it wrote.
 */
struct prediction_cache;

struct prediction_key {
    const char *team_id;
    const char *application;
    double problem_size;        /* as asked, NAN: not */
    int64_t cores_per_executor; /* as asked, RUN_UNKNOWN: not */
    int64_t min_executors;
    int64_t max_executors;
    unsigned char labels[32]; /* digest of those asked for; zeros: none */
};

/* Made by prediction_item_create, filled in by its maker, then published or let go. */
struct prediction_item {
    struct arena arena; /* what it points at */
    char application_id[37];
    int64_t history_version;
    struct history_prediction prediction;
    struct run_id *replayed; /* where labels chose them: the runs */
    size_t n_replayed;
};

/* NULL when memory is exhausted. */
struct prediction_cache *prediction_cache_create(size_t entries_max, int64_t max_age_ms);
void prediction_cache_destroy(struct prediction_cache *cache); /* accepts NULL */

/* A new item, held by the caller. NULL when memory is exhausted. */
struct prediction_item *prediction_item_create(size_t memory_max);
/* Let go; accepts NULL. */
void prediction_item_release(const struct prediction_item *item);

enum prediction_state { PREDICTION_ABSENT, PREDICTION_FRESH, PREDICTION_STALE };

/* *item is held by the caller unless the answer is PREDICTION_ABSENT. now_ns: monotonic clock. */
enum prediction_state prediction_cache_find(struct prediction_cache *cache,
                                            const struct prediction_key *key,
                                            uint64_t now_ns,
                                            const struct prediction_item **item);

/* The item still is the history that was read at read_ns (before asking): fresh again. */
void prediction_cache_confirm(struct prediction_cache *cache,
                              const struct prediction_item *item,
                              uint64_t read_ns);

/*
 * Invalidations so far. Take it before reading the database, give it to publish: an item made from
 * what was read before an invalidation is then not published.
 */
uint64_t prediction_cache_epoch(struct prediction_cache *cache);

/* Publish under the key, in place of what is there. The caller still holds it. */
void prediction_cache_publish(struct prediction_cache *cache,
                              const struct prediction_key *key,
                              struct prediction_item *item,
                              uint64_t read_ns,
                              uint64_t epoch);

/* Forget everything about an application of a team: its history changed. Accepts a NULL cache. */
void prediction_cache_invalidate(struct prediction_cache *cache,
                                 const char *team_id,
                                 const char *application);

struct prediction_cache_statistics {
    size_t entries;
    uint64_t hits; /* fresh */
    uint64_t stale;
    uint64_t misses;
};
struct prediction_cache_statistics prediction_cache_statistics(struct prediction_cache *cache);

/* Bring its metrics up to date. Accepts NULL. */
void prediction_cache_collect_metrics(struct prediction_cache *cache);

#endif
