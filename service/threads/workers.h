#ifndef THREADS_WORKERS_H
#define THREADS_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/duty.h"

/*
 * A fixed number of threads behind a bounded queue of jobs. Each job has an owner (a team), and
 * owners take turns by deficit round robin (M. Shreedhar, G. Varghese, "Efficient fair queueing
 * using deficit round robin", SIGCOMM 1995): every round gives each owner that waits the same time,
 * spent by the estimated time of a job when it begins and corrected by the real one when it ends.
 * Jobs of one owner run in the order in which they were submitted, those that go on before others.
 *
 * One owner alone may use all of the queue and all threads but the spare ones. A full queue makes
 * room for an owner that has less in it than another: the newest job of the one that has most is
 * dropped. Safe from any thread.
 */
struct workers;

enum {
    WORKERS_OWNER = 37,        /* bytes of an owner's name with its NUL: a UUID */
    WORKERS_LIGHT_NS = 5000000 /* what a light thread begins takes no longer, by its estimate */
};

struct workers_settings {
    size_t threads;
    /* Threads beside those, which only begin jobs of owners that have none running: so that whoever
     * comes after an owner's long jobs need not wait for their end. */
    size_t spare_threads;
    /* Threads beside those, of undiminished priority. They only begin jobs estimated at
     * WORKERS_LIGHT_NS or less, of owners that have none running, few queued and lately took
     * less than a quarter of a thread: so that whoever asks little waits neither for a place nor
     * for the processor behind those who ask much. */
    size_t light_threads;
    size_t queue_max;
    /* No further jobs of an owner whose oldest has waited longer, or for whose newest that is to be
     * expected, but those that may not be dropped. 0: no bound. */
    uint64_t wait_max_ns;
    int niceness; /* of its threads but the light ones, beyond that of the process: 0 to 19 */
    /* After so much time of a processor its threads but the light ones give way to others for a
     * moment (threads/give_way.h). 0: never. */
    uint64_t burst_ns;
    enum duty duty; /* of its threads */
};

struct workers_job {
    void (*run)(void *argument);
    /* In place of run, once, on the thread that submits another owner's job, without a lock: the
     * job was dropped. NULL: it may not be dropped. */
    void (*drop)(void *argument);
    /* Nobody waits for it any more, so it does not count as one that waits too long. Asked with the
     * lock held; NULL: somebody does. */
    bool (*is_over)(void *argument);
    void *argument;
    bool goes_on;      /* what was begun: before the owner's jobs that were not */
    const char *owner; /* at most WORKERS_OWNER - 1 bytes, copied; "": nobody's */
    uint64_t cost_ns;  /* estimated time on a thread */
};

enum workers_admission {
    WORKERS_ACCEPTED,
    WORKERS_FULL, /* the queue is full, or the owner's jobs wait too long; nobody else has any */
    WORKERS_SHARE_USED /* the same, and other owners have jobs */
};

/* Threads block every signal. name (<= 15 characters) shows in ps and metrics. NULL on failure. */
struct workers *workers_create(const char *name, const struct workers_settings *settings);

/* What workers_submit would say now. For callers whose preparations for a job cost more than a
 * refusal: nothing is reserved. */
enum workers_admission workers_would_accept(struct workers *workers, const struct workers_job *job);

/* Other than WORKERS_ACCEPTED: the job will neither run nor be dropped. */
enum workers_admission workers_submit(struct workers *workers, const struct workers_job *job);

struct workers_statistics {
    size_t queued;
    size_t running;
    size_t threads; /* without the spare and the light ones */
    size_t queue_max;
    size_t owners; /* that wait or run */
};
struct workers_statistics workers_statistics(struct workers *workers);

/* Refuse new jobs, run what is queued, join. Pools whose jobs go on in one another are all stopped
 * before the first is destroyed. Accepts NULL. */
void workers_stop(struct workers *workers);

/* Stop and free; nobody may submit any more. Accepts NULL. */
void workers_destroy(struct workers *workers);

#endif
