#ifndef MAINTENANCE_PASS_H
#define MAINTENANCE_PASS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "config/config.h"
#include "store/store.h"

/* What a pass of the housekeeping did; one row each in maintenance_kinds. */
struct maintenance_tally {
    bool done; /* false: another process is at it, or was a short while ago */
    uint64_t partitions_made;
    uint64_t partitions_dropped;
    uint64_t runs;
    uint64_t keys;
    uint64_t events;
    uint64_t deliveries;     /* of webhooks, that ended */
    uint64_t admissions;     /* that ended */
    uint64_t events_dropped; /* undelivered ones, by age, and those beyond the newest */
    uint64_t tokens;
    uint64_t advice;
    uint64_t audit;
    uint64_t ingestions;
    uint64_t performance; /* rows of what clusters reported and nothing is left of */
    uint64_t operations;  /* of which nothing is kept but that they were there */
    uint64_t quota_loops; /* that had no sample for long */
    uint64_t runs_thinned;
    uint64_t stages_thinned;
    uint64_t recounts; /* of what a team stores */
};

struct maintenance_kind {
    const char *name; /* in log lines, metrics and what `provisord maintain` prints */
    size_t offset;    /* of its uint64_t in struct maintenance_tally */
};
extern const struct maintenance_kind maintenance_kinds[];
extern const size_t maintenance_kinds_n;
uint64_t maintenance_count(const struct maintenance_tally *tally,
                           const struct maintenance_kind *kind);

/* Who else wants to know what a pass does; notified on its thread of what is committed. */
struct maintenance_listener {
    /* An application's history lost runs. */
    void (*history_changed)(void *context, const char *team_id, const char *application);
    void *context;
};

/*
 * One pass over all teams: make partitions ahead, remove what is past its retention, thin old runs,
 * drop partitions that are no longer needed. Of all processes on a database one does it at a time;
 * every_s: not if the last pass began less than that ago. Work is done in transactions of at most
 * config->maintenance_batch_rows rows, so it may end anywhere (*stop set, say) and go on the next
 * time.
 *
 * What fails does not keep the other steps from being taken, unless the database is gone; the first
 * failure is answered, *tally says what was done all the same. listener: NULL, nobody listens.
 */
enum pv_code maintenance_pass(struct store *store,
                              const struct config *config,
                              const struct maintenance_listener *listener,
                              int64_t every_s,
                              const atomic_bool *stop,
                              struct maintenance_tally *tally,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
