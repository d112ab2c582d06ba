#ifndef API_MODELS_FIT_QUEUE_H
#define API_MODELS_FIT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Applications whose history changed, waiting for one thread that fits their models. An application
 * is in it once, however many runs arrive: it becomes due settle_ms after the first of them. What
 * arrives while it is being fitted makes it wait once more. Bounded, and all its memory is taken at
 * the start, so that adding never fails for want of memory. Safe from any thread; taken from by
 * one.
 */
struct fit_queue;

/* In bytes, with the end: at most 255 characters of up to 4 bytes (docs/design.md, "Words and
 * units"). */
enum { FIT_TEAM_BYTES = 37, FIT_NAME_BYTES = 255 * 4 + 1 };

struct fit_key {
    char team_id[FIT_TEAM_BYTES];
    char application[FIT_NAME_BYTES];
};

/* entries_max applications, from 1; the one being fitted is one of them. NULL: out of memory. */
struct fit_queue *fit_queue_create(size_t entries_max, int64_t settle_ms);
void fit_queue_destroy(struct fit_queue *queue); /* when no thread uses it; accepts NULL */

/* The history of that application changed. false: the queue is full or closed. Never waits. */
bool fit_queue_add(struct fit_queue *queue, const char *team_id, const char *application);

/* Wait for the application that has been due longest. false: the queue is closed. */
bool fit_queue_take(struct fit_queue *queue, struct fit_key *key);

/* What was taken has been fitted, or could not be. */
void fit_queue_done(struct fit_queue *queue);

/* The taker's pause between two; ends early when the queue is closed. */
void fit_queue_rest(struct fit_queue *queue, uint64_t ns);

/* Nothing is added or taken any more; wakes who waits. */
void fit_queue_close(struct fit_queue *queue);

struct fit_queue_statistics {
    size_t waiting;
    size_t running; /* 0 or 1 */
    size_t entries_max;
    uint64_t added;   /* that had to wait from then on */
    uint64_t merged;  /* that were waiting already */
    uint64_t refused; /* by a full queue */
};
struct fit_queue_statistics fit_queue_statistics(struct fit_queue *queue);

#endif
