#ifndef OPERATION_RUNNER_INTERNAL_H
#define OPERATION_RUNNER_INTERNAL_H

#include <pthread.h>

#include "base/ledger.h"
#include "operation/runner.h"
#include "operation/turns.h"

struct runner_slot {
    struct operation_runner *runner;
    pthread_t thread;
    bool started;
    struct progress_flags flags;
    struct ledger_account account; /* what the attempt holds; the thread's own, as the next, but
                                      for account.used */
    size_t pauses;                 /* how often the attempt gave way */
    /* under runner->lock */
    pthread_cond_t turn; /* it has a worker, or is to stop */
    bool busy;
    struct operation_key key;
    uint64_t lease_end_ns; /* by our own clock, from before the question was sent */
};

struct operation_runner {
    struct operation_runner_options options;
    const struct config *config;
    char worker[OPERATION_WORKER_NAME];
    struct strview *kind_names;
    size_t n_kinds;
    size_t n_slots; /* places for operations that have a worker and for those that wait for one */
    struct runner_slot *slots;
    pthread_t beat;
    bool beating;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;  /* of workers: there may be something to claim */
    pthread_cond_t tick;  /* of the heart beat: the end is near */
    unsigned looks;       /* how many workers may look for work */
    bool claiming;        /* one looks: its question is based on who holds what */
    struct turns turns;   /* of the slots, by their number */
    bool ending;
};

/* --- runner.c --- */

/* Ask the attempt to stop, waiting or not; the lock is held. */
void slot_stop(struct runner_slot *slot, enum operation_stop why);
/* Wait for a worker. false: stop instead. */
bool slot_await_turn(struct runner_slot *slot);
/* What it holds of the memory. */
size_t slot_bytes(const struct runner_slot *slot);
/* Give way to those that wait, if that is still right, and come back when it is our turn again. */
void slot_pause(struct runner_slot *slot);
/* Ask those whose slice is over, while others wait, to give way; the lock is held. */
void runner_review_turns(struct operation_runner *runner);

/* attempt.c: from a claim to its end. */
void attempt_run(struct runner_slot *slot, const struct operation_key *key);
/* Put what this process still holds back into the queue; loss: it counts as a failed attempt. A
 * failure is logged. */
void attempt_requeue(struct operation_runner *runner, const struct operation_key *key, bool loss);
/* A transaction of the team of that operation, in the runner's own name. */
enum pv_code attempt_begin_tx(struct operation_runner *runner,
                              const char *team_id,
                              enum store_mode mode,
                              struct store_tx **tx,
                              struct pv_error *err) PV_MUSTCHECK;
/* The text of the error that is kept, in the arena; at == NULL when memory is exhausted. */
struct strview
attempt_describe(struct operation_runner *runner, struct arena *arena, const struct pv_error *err);

/* heartbeat.c */
void *heartbeat_run(void *runner);

/* runner_metrics.c */
void runner_count_attempt(const char *kind, const char *outcome, double seconds);
void runner_set_backlog(const struct operation_counts *counts);
void runner_count_pause(void);
void runner_set_held(size_t with_worker, size_t without, size_t bytes);

#endif
