#define _GNU_SOURCE /* pthread_setname_np */
#include "threads/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "threads/cond.h"

struct job {
    workers_job run;
    void *argument;
};

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* a job came, or the pool is closing */
    struct job *queue;   /* ring of queue_max */
    size_t queue_max;
    size_t first;
    size_t queued;
    size_t running;
    bool closing;
    char name[16];
    size_t n_threads;
    pthread_t threads[];
};

/* The next job; false when the pool is closing and nothing is queued. */
static bool take_job(struct workers *workers, struct job *job)
{
    pthread_mutex_lock(&workers->lock);
    while (workers->queued == 0 && !workers->closing)
        pthread_cond_wait(&workers->wake, &workers->lock);
    bool taken = workers->queued > 0;
    if (taken) {
        *job = workers->queue[workers->first];
        workers->first = (workers->first + 1) % workers->queue_max;
        workers->queued--;
        workers->running++;
    }
    pthread_mutex_unlock(&workers->lock);
    return taken;
}

static void job_done(struct workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    workers->running--;
    pthread_mutex_unlock(&workers->lock);
}

static void *workers_work(void *argument)
{
    struct workers *workers = argument;
    struct job job;
    while (take_job(workers, &job)) {
        job.run(job.argument);
        job_done(workers);
    }
    return NULL;
}

/* Signals belong to one thread of the program, never to a worker. */
static bool start_threads(struct workers *workers, size_t threads)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (workers->n_threads < threads) {
        pthread_t *thread = &workers->threads[workers->n_threads];
        if (pthread_create(thread, NULL, workers_work, workers) != 0)
            break;
        (void)pthread_setname_np(*thread, workers->name);
        workers->n_threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return workers->n_threads == threads;
}

struct workers *workers_create(const char *name, size_t threads, size_t queue_max)
{
    size_t size;
    if (threads == 0 || queue_max == 0 ||
        __builtin_mul_overflow(threads, sizeof(pthread_t), &size) ||
        __builtin_add_overflow(size, sizeof(struct workers), &size))
        return NULL;
    struct workers *workers = calloc(1, size);
    if (workers == NULL)
        return NULL;
    workers->queue = calloc(queue_max, sizeof *workers->queue);
    if (workers->queue == NULL) {
        free(workers);
        return NULL;
    }
    workers->queue_max = queue_max;
    (void)snprintf(workers->name, sizeof workers->name, "%s", name);
    pthread_mutex_init(&workers->lock, NULL);
    (void)cond_init(&workers->wake);
    if (!start_threads(workers, threads)) {
        workers_destroy(workers);
        return NULL;
    }
    return workers;
}

bool workers_submit(struct workers *workers, workers_job job, void *argument)
{
    pthread_mutex_lock(&workers->lock);
    bool taken = !workers->closing && workers->queued < workers->queue_max;
    if (taken) {
        size_t at = (workers->first + workers->queued) % workers->queue_max;
        workers->queue[at] = (struct job){job, argument};
        workers->queued++;
        pthread_cond_signal(&workers->wake);
    }
    pthread_mutex_unlock(&workers->lock);
    return taken;
}

struct workers_statistics workers_statistics(struct workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    struct workers_statistics now = {.queued = workers->queued,
                                     .running = workers->running,
                                     .threads = workers->n_threads,
                                     .queue_max = workers->queue_max};
    pthread_mutex_unlock(&workers->lock);
    return now;
}

void workers_destroy(struct workers *workers)
{
    if (workers == NULL)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->closing = true;
    pthread_cond_broadcast(&workers->wake);
    pthread_mutex_unlock(&workers->lock);
    for (size_t i = 0; i < workers->n_threads; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->wake);
    pthread_mutex_destroy(&workers->lock);
    free(workers->queue);
    free(workers);
}
