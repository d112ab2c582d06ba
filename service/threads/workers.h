#ifndef THREADS_WORKERS_H
#define THREADS_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A fixed number of threads behind a bounded first-in-first-out queue. Safe from any thread.
 */
struct workers;

typedef void (*workers_job)(void *argument);

/* Threads block every signal. name (<= 15 characters) shows in ps and metrics. NULL on failure. */
struct workers *workers_create(const char *name, size_t threads, size_t queue_max);

/* false: the queue is full or the pool is closing; the job will not run. */
bool workers_submit(struct workers *workers, workers_job job, void *argument);

struct workers_statistics {
    size_t queued;
    size_t running;
    size_t threads;
    size_t queue_max;
};
struct workers_statistics workers_statistics(struct workers *workers);

/* Refuse new jobs, run what is queued, join, free. Accepts NULL. */
void workers_destroy(struct workers *workers);

#endif
