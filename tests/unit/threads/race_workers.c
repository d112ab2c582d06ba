/*
 * Several threads submit to one pool that others ask for its figures: a plain program, because
 * Criterion does not start under ThreadSanitizer. Proves that every accepted job runs exactly once
 * or is dropped.
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "threads/workers.h"

enum { SUBMITTERS = 4, JOBS = 5000, THREADS = 2, SPARE_THREADS = 1, LIGHT_THREADS = 1 };
enum { RUNNING_MAX = THREADS + SPARE_THREADS + LIGHT_THREADS };

static atomic_long ran;
static atomic_long accepted;
static long unshared[SUBMITTERS * JOBS]; /* a job writes its own place without a lock */

static void run(void *argument)
{
    long *place = argument;
    *place += 1;
    atomic_fetch_add(&ran, 1);
}

static atomic_long dropped;

static void drop(void *argument)
{
    assert(*(long *)argument == 0);
    atomic_fetch_add(&dropped, 1);
}

struct submitter {
    struct workers *workers;
    const char *owner;
    long *places;
};

static void *submit(void *argument)
{
    struct submitter *me = argument;
    for (size_t i = 0; i < JOBS; i++) {
        const struct workers_job job = {.run = run,
                                        .drop = i % 2 == 0 ? drop : NULL,
                                        .argument = &me->places[i],
                                        .owner = me->owner,
                                        .cost_ns = 1000 * i};
        if (workers_submit(me->workers, &job) == WORKERS_ACCEPTED)
            atomic_fetch_add(&accepted, 1);
        struct workers_statistics now = workers_statistics(me->workers);
        assert(now.queued <= now.queue_max && now.running <= RUNNING_MAX &&
               now.owners <= SUBMITTERS);
    }
    return NULL;
}

int main(void)
{
    static const char *const owners[SUBMITTERS] = {"a", "a", "b", ""};
    const struct workers_settings settings = {.threads = THREADS,
                                              .spare_threads = SPARE_THREADS,
                                              .light_threads = LIGHT_THREADS,
                                              .queue_max = 64,
                                              .wait_max_ns = 1000000};
    struct workers *workers = workers_create("race", &settings);
    assert(workers != NULL);
    pthread_t threads[SUBMITTERS];
    struct submitter submitters[SUBMITTERS];
    for (size_t i = 0; i < SUBMITTERS; i++) {
        submitters[i] = (struct submitter){workers, owners[i], unshared + i * JOBS};
        int started = pthread_create(&threads[i], NULL, submit, &submitters[i]);
        assert(started == 0);
    }
    for (size_t i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
    workers_destroy(workers);

    long sum = 0;
    for (size_t i = 0; i < SUBMITTERS * JOBS; i++) {
        assert(unshared[i] == 0 || unshared[i] == 1);
        sum += unshared[i];
    }
    assert(sum == atomic_load(&ran) && sum > 0);
    assert(sum + atomic_load(&dropped) == atomic_load(&accepted));
    printf("%ld of %d jobs taken, each ran once, %ld dropped\n", sum, SUBMITTERS * JOBS,
           atomic_load(&dropped));
    return 0;
}
