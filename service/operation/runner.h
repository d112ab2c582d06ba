#ifndef OPERATION_RUNNER_H
#define OPERATION_RUNNER_H

#include "operation/operation.h"
#include "resources/resources.h"

/*
 * The part of a process that does long work: threads of low priority that take operations from the
 * table, of which config->operation_workers work at a time while up to config->operation_paused_max
 * wait for their turn (operation/turns.h), and one that renews their leases, writes their progress,
 * hears of cancellations (all in one statement every BEAT_MS), and puts what dead processes left
 * back into the queue. Waits while the schema is behind or the database away.
 *
 * A process that cannot renew its leases stops what it does before they run out elsewhere, and what
 * it writes afterwards is refused (the fence, store/operations/operation.h).
 */
struct operation_runner;

struct operation_runner_options {
    const struct config *config;
    struct store *store;
    struct resources *resources;        /* borrowed: what attempts hold is memory of their teams */
    const struct operation_kind *kinds; /* ended by a NULL name */
    void *context;                      /* for their run functions */
    /* An error as the JSON text of a problem, in the arena; NULL when memory is exhausted. */
    const char *(*describe)(struct arena *arena, const struct pv_error *err, size_t *n);
};

/* *runner is NULL where operation_workers is 0. PV_E_MEMORY, PV_E_UNAVAILABLE: no thread. */
enum pv_code operation_runner_create(const struct operation_runner_options *options,
                                     struct operation_runner **runner,
                                     struct pv_error *err) PV_MUSTCHECK;

/* Something was queued and committed: look for it now rather than at the next beat. Returns at
 * once, from any thread; accepts NULL. */
void operation_runner_wake(struct operation_runner *runner);

/* Take nothing more, stop what runs and give it back. Returns at once; accepts NULL. */
void operation_runner_ask_end(struct operation_runner *runner);

/* Wait for the end, at most so many seconds. false: a kind does not stop, and what it uses must
 * stay. Accepts NULL. */
bool operation_runner_join(struct operation_runner *runner, unsigned seconds);

#endif
