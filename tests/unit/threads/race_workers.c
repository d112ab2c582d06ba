/*
 * Several threads submit to one pool that others ask for its figures: a plain program, because
 * Criterion does not start under ThreadSanitizer. Proves that every accepted job runs exactly once.
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "threads/workers.h"

enum { SUBMITTERS = 4, JOBS = 5000 };

static atomic_long ran;
static atomic_long accepted;
static long unshared[SUBMITTERS * JOBS]; /* a job writes its own place without a lock */

static void run(void *argument)
{
    long *place = argument;
    *place += 1;
    atomic_fetch_add(&ran, 1);
}

struct submitter {
    struct workers *workers;
    long *places;
};

static void *submit(void *argument)
{
    struct submitter *me = argument;
    for (size_t i = 0; i < JOBS; i++) {
        if (workers_submit(me->workers, run, &me->places[i]))
            atomic_fetch_add(&accepted, 1);
        struct workers_statistics now = workers_statistics(me->workers);
        assert(now.queued <= now.queue_max && now.running <= now.threads);
    }
    return NULL;
}

int main(void)
{
    struct workers *workers = workers_create("race", 3, 64);
    assert(workers != NULL);
    pthread_t threads[SUBMITTERS];
    struct submitter submitters[SUBMITTERS];
    for (size_t i = 0; i < SUBMITTERS; i++) {
        submitters[i] = (struct submitter){workers, unshared + i * JOBS};
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
    assert(sum == atomic_load(&accepted) && sum == atomic_load(&ran) && sum > 0);
    printf("%ld of %d jobs taken, each ran once\n", sum, SUBMITTERS * JOBS);
    return 0;
}
