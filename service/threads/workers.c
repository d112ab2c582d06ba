#define _GNU_SOURCE /* pthread_setname_np, gettid */
#include "threads/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "threads/clock.h"
#include "threads/cond.h"
#include "threads/give_way.h"

static const int64_t quantum_ns = 1000000;      /* what each round gives an owner */
static const int64_t debt_max_ns = 10000000000; /* how far wrong estimates set one back */
static const uint64_t cost_min_ns = 20000;      /* no turn lasts for ever, however light the jobs */
enum { BUCKETS = 256, USE_BUCKETS = 4096 };

/* Who used a quarter of a thread or more, beyond a burst, does not ask little. */
enum { LIGHT_PART = 4, LIGHT_QUEUED_MAX = 8 };
static const uint64_t light_burst_ns = 25000000 * (uint64_t)LIGHT_PART;
/* A job however long is forgotten after this. */
static const uint64_t heavy_max_ns = 1000000000;
/* How soon it is seen that a job has become a light one while it waited. */
static const uint64_t light_look_ns = 20000000;

/* A place in the queue; free ones form a list, too. */
struct place {
    struct workers_job job;
    uint64_t since_ns;
    struct place *previous, *next;
};

/* Whoever has jobs queued or running. */
struct owner {
    char name[WORKERS_OWNER];
    struct owner *in_bucket;
    struct place *first, *last; /* oldest to newest */
    size_t queued;
    size_t running;
    uint64_t queued_ns;            /* the estimated time of what is queued */
    int64_t credit_ns;             /* what the rounds gave and jobs have not used */
    struct owner *previous, *next; /* in the ring of those with jobs queued */
};

/* A thread that waits for a job has a condition of its own: whoever has one for it wakes it alone. */
struct worker {
    struct workers *workers;
    pthread_t thread;
    pthread_cond_t wake; /* a job came, or the pool is closing */
    bool woken;
    struct worker *next; /* of those that wait */
};

/* What one change can make possible: a job for a light thread and one for another. */
enum { WAKES = 2 };

struct workers {
    pthread_mutex_t lock;
    struct workers_settings settings;
    struct place *places; /* queue_max */
    struct place *free_places;
    struct owner *owners; /* as many as can have a job, queued or running */
    struct owner *free_owners;
    struct owner *buckets[BUCKETS];
    struct owner *turn; /* whose turn it is, in the ring; NULL: nothing is queued */
    size_t n_owners;
    size_t waiting; /* owners in the ring */
    size_t queued;
    size_t running;
    struct worker *idle; /* threads that wait for a job that may begin, and nobody has woken */
    size_t waking;       /* how many somebody has */
    struct worker *light_idle;
    size_t light_looking; /* of the light ones, those that look again in a moment */
    size_t light_running;
    pthread_cond_t *wakes[WAKES]; /* to be signalled as soon as the lock is free */
    size_t n_wakes;
    /* Until when owners, by a hash of their names, have had their part of the light threads. */
    uint64_t heavy_until_ns[USE_BUCKETS];
    bool closing;
    char name[16];
    size_t n_threads;
    size_t n_conds;
    struct worker threads[];
};

/* --- owners --- */

static size_t bucket_index(const char *name)
{
    return hash_text(HASH_START, name) % BUCKETS;
}

static struct owner **bucket_of(struct workers *workers, const char *name)
{
    return &workers->buckets[bucket_index(name)];
}

static struct owner *find_owner(struct workers *workers, const char *name)
{
    struct owner *owner = *bucket_of(workers, name);
    while (owner != NULL && strcmp(owner->name, name) != 0)
        owner = owner->in_bucket;
    return owner;
}

/* There is one free: each that is in use has a job, queued or on a thread. */
static struct owner *add_owner(struct workers *workers, const char *name)
{
    struct owner *owner = workers->free_owners;
    struct owner **bucket = bucket_of(workers, name);
    workers->free_owners = owner->next;
    *owner = (struct owner){.in_bucket = *bucket};
    (void)snprintf(owner->name, sizeof owner->name, "%s", name);
    *bucket = owner;
    workers->n_owners++;
    return owner;
}

static void forget_owner(struct workers *workers, struct owner *owner)
{
    struct owner **at = bucket_of(workers, owner->name);
    while (*at != owner)
        at = &(*at)->in_bucket;
    *at = owner->in_bucket;
    owner->next = workers->free_owners;
    workers->free_owners = owner;
    workers->n_owners--;
}

/* Into the ring as the last whose turn comes. */
static void join_ring(struct workers *workers, struct owner *owner)
{
    struct owner *turn = workers->turn;
    workers->waiting++;
    if (turn == NULL) {
        workers->turn = owner->previous = owner->next = owner;
        return;
    }
    owner->next = turn;
    owner->previous = turn->previous;
    turn->previous->next = owner;
    turn->previous = owner;
}

static void leave_ring(struct workers *workers, struct owner *owner)
{
    workers->waiting--;
    if (workers->turn == owner)
        workers->turn = owner->next == owner ? NULL : owner->next;
    owner->previous->next = owner->next;
    owner->next->previous = owner->previous;
    if (owner->credit_ns > 0)
        owner->credit_ns = 0; /* credit is not saved up */
}

/* --- the queue --- */

/* The one behind which a job is to stand; NULL: it is the first. */
static struct place *find_predecessor(const struct owner *owner, const struct workers_job *job)
{
    if (!job->goes_on)
        return owner->last;
    struct place *previous = NULL;
    for (struct place *at = owner->first; at != NULL && at->job.goes_on; at = at->next)
        previous = at;
    return previous;
}

static void insert_job(struct workers *workers,
                       struct owner *owner,
                       const struct workers_job *job,
                       uint64_t now_ns)
{
    struct place *place = workers->free_places;
    struct place *previous = find_predecessor(owner, job);
    workers->free_places = place->next;
    *place = (struct place){.job = *job, .since_ns = now_ns, .previous = previous};
    place->job.owner = owner->name;
    if (job->cost_ns < cost_min_ns)
        place->job.cost_ns = cost_min_ns;
    owner->queued_ns += place->job.cost_ns;
    place->next = previous == NULL ? owner->first : previous->next;
    *(previous == NULL ? &owner->first : &previous->next) = place;
    *(place->next == NULL ? &owner->last : &place->next->previous) = place;
    if (owner->queued++ == 0)
        join_ring(workers, owner);
    workers->queued++;
}

static struct workers_job remove_job(struct workers *workers, struct owner *owner, struct place *at)
{
    struct workers_job job = at->job;
    owner->queued_ns -= job.cost_ns;
    *(at->previous == NULL ? &owner->first : &at->previous->next) = at->next;
    *(at->next == NULL ? &owner->last : &at->next->previous) = at->previous;
    at->next = workers->free_places;
    workers->free_places = at;
    workers->queued--;
    if (--owner->queued == 0)
        leave_ring(workers, owner);
    return job;
}

/* --- turns --- */

static bool may_begin(const struct workers *workers, const struct owner *owner)
{
    return owner->running == 0 || workers->running < workers->settings.threads;
}

static int64_t missing_credit(const struct owner *owner)
{
    return (int64_t)owner->first->job.cost_ns - owner->credit_ns;
}

/* Whoever may begin a job and has the credit for it, from the turn on; it moves on past the others.
 */
static struct owner *find_with_credit(struct workers *workers, bool *anybody, int64_t *least)
{
    struct owner *from = workers->turn;
    struct owner *owner = from;
    do {
        if (may_begin(workers, owner)) {
            int64_t missing = missing_credit(owner);
            if (missing <= 0) {
                workers->turn = owner;
                return owner;
            }
            if (!*anybody || missing < *least)
                *least = missing;
            *anybody = true;
        }
        owner = owner->next;
    } while (owner != from);
    return NULL;
}

/* NULL: nobody who waits may begin a job. Rounds in which nobody could begin are given at once. */
static struct owner *choose_owner(struct workers *workers)
{
    bool anybody = false;
    int64_t least = 0;
    if (workers->turn == NULL)
        return NULL;
    struct owner *chosen = find_with_credit(workers, &anybody, &least);
    if (chosen != NULL || !anybody)
        return chosen;
    int64_t rounds = (least + quantum_ns - 1) / quantum_ns;
    struct owner *owner = workers->turn;
    do {
        if (may_begin(workers, owner))
            owner->credit_ns += rounds * quantum_ns;
        owner = owner->next;
    } while (owner != workers->turn);
    return find_with_credit(workers, &anybody, &least);
}

static bool anybody_may_begin(const struct workers *workers)
{
    const struct owner *owner = workers->turn;
    if (owner == NULL || workers->running < workers->settings.threads)
        return owner != NULL;
    do {
        if (owner->running == 0)
            return true;
        owner = owner->next;
    } while (owner != workers->turn);
    return false;
}

static size_t use_index(const struct owner *owner)
{
    return hash_text(HASH_START, owner->name) % USE_BUCKETS;
}

static bool is_light(const struct workers *workers, const struct owner *owner, uint64_t now_ns)
{
    return owner->running == 0 && owner->queued <= LIGHT_QUEUED_MAX &&
           owner->first->job.cost_ns <= WORKERS_LIGHT_NS &&
           workers->heavy_until_ns[use_index(owner)] <= now_ns;
}

/* What an owner has used of a processor makes it a heavy one for so much longer. What its jobs
 * waited, for PostgreSQL or for the processor, is no use of it. */
static void count_use(struct workers *workers, const struct owner *owner, uint64_t used_ns)
{
    uint64_t *until_ns = &workers->heavy_until_ns[use_index(owner)];
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t least_ns = now_ns > light_burst_ns ? now_ns - light_burst_ns : 0;
    *until_ns = (*until_ns > least_ns ? *until_ns : least_ns) + used_ns * LIGHT_PART;
    if (*until_ns > now_ns + heavy_max_ns)
        *until_ns = now_ns + heavy_max_ns;
}

static struct owner *choose_light_owner(struct workers *workers)
{
    struct owner *owner = workers->turn;
    if (owner == NULL)
        return NULL;
    uint64_t now_ns = clock_monotonic_ns();
    do {
        if (is_light(workers, owner, now_ns))
            return owner;
        owner = owner->next;
    } while (owner != workers->turn);
    return NULL;
}

/* --- waking and waiting --- */

/* Whoever wakes a thread of higher priority may lose the processor to it there and then: not with
 * the lock, which all would have to wait for. */
static void unlock_and_wake(struct workers *workers)
{
    pthread_cond_t *wakes[WAKES];
    size_t n = workers->n_wakes;
    memcpy(wakes, workers->wakes, n * sizeof wakes[0]);
    workers->n_wakes = 0;
    pthread_mutex_unlock(&workers->lock);
    for (size_t i = 0; i < n; i++)
        pthread_cond_signal(wakes[i]);
}

/* The one that has waited for the shortest time: what it needs is in the caches still. */
static void wake_first(struct workers *workers, struct worker **idle)
{
    struct worker *worker = *idle;
    *idle = worker->next;
    worker->woken = true;
    if (workers->n_wakes == WAKES)
        pthread_cond_signal(&worker->wake);
    else
        workers->wakes[workers->n_wakes++] = &worker->wake;
}

/* For one more job than there are threads on their way: a wake-up costs more than a small job. */
static void wake_one(struct workers *workers)
{
    if (workers->idle == NULL || workers->waking >= workers->queued)
        return;
    workers->waking++;
    wake_first(workers, &workers->idle);
}

static void join_idle(struct worker *worker, struct worker **idle)
{
    worker->woken = false;
    worker->next = *idle;
    *idle = worker;
}

/* One that nobody has woken. */
static void leave_idle(struct worker *worker, struct worker **idle)
{
    while (*idle != worker)
        idle = &(*idle)->next;
    *idle = worker->next;
}

static void wake_all(struct workers *workers)
{
    while (workers->light_idle != NULL)
        wake_first(workers, &workers->light_idle);
    for (; workers->idle != NULL; workers->waking++)
        wake_first(workers, &workers->idle);
}

/* The lock is free between. */
static void wake_now(struct workers *workers)
{
    if (workers->n_wakes == 0)
        return;
    unlock_and_wake(workers);
    pthread_mutex_lock(&workers->lock);
}

static void wait_for_job(struct worker *self)
{
    struct workers *workers = self->workers;
    join_idle(self, &workers->idle);
    wake_now(workers);
    while (!self->woken)
        pthread_cond_wait(&self->wake, &workers->lock);
    workers->waking--;
}

/* What waits may become light by the passing of time alone. */
static void wait_for_light_job(struct worker *self)
{
    struct workers *workers = self->workers;
    bool looking = workers->queued > 0;
    uint64_t until_ns = clock_monotonic_ns() + light_look_ns;
    bool late = false;
    join_idle(self, &workers->light_idle);
    workers->light_looking += looking;
    wake_now(workers);
    while (!self->woken && !late)
        if (looking)
            late = !cond_wait_until(&self->wake, &workers->lock, until_ns);
        else
            pthread_cond_wait(&self->wake, &workers->lock);
    workers->light_looking -= looking;
    if (!self->woken)
        leave_idle(self, &workers->light_idle);
}

/* For a job that has come: whoever may take it, and where nobody is free for it a light thread
 * that looks at it from time to time. */
static void wake_for(struct workers *workers, const struct owner *owner, uint64_t now_ns)
{
    bool light = is_light(workers, owner, now_ns);
    if (workers->light_idle != NULL &&
        (light || (workers->idle == NULL && workers->light_looking == 0))) {
        wake_first(workers, &workers->light_idle);
        if (light)
            return;
    }
    if (may_begin(workers, owner))
        wake_one(workers);
}

/* A job of the owner has ended, more_ns later than estimated. */
static void end_job_locked(struct workers *workers, struct owner *owner, int64_t more_ns)
{
    owner->running--;
    owner->credit_ns -= more_ns;
    if (owner->credit_ns < -debt_max_ns)
        owner->credit_ns = -debt_max_ns;
    if (owner->queued == 0 && owner->running == 0)
        forget_owner(workers, owner);
    if (workers->closing)
        wake_all(workers);
}

static void begin_job_locked(struct workers *workers, struct owner *owner, struct workers_job *job)
{
    owner->credit_ns -= (int64_t)owner->first->job.cost_ns;
    owner->running++;
    *job = remove_job(workers, owner, owner->first);
}

/* The next job; NULL when the pool is closing and nothing may begin any more. */
static struct owner *take_job_locked(struct worker *self, struct workers_job *job)
{
    struct workers *workers = self->workers;
    struct owner *owner;
    while ((owner = choose_owner(workers)) == NULL && (workers->queued > 0 || !workers->closing))
        wait_for_job(self);
    if (owner == NULL)
        return NULL;
    begin_job_locked(workers, owner, job);
    workers->running++;
    /* What made this job possible may have made another one so, too. */
    if (workers->idle != NULL && anybody_may_begin(workers))
        wake_one(workers);
    return owner;
}

/* A light thread's next job; NULL when the pool is closing. */
static struct owner *take_light_job_locked(struct worker *self, struct workers_job *job)
{
    struct workers *workers = self->workers;
    struct owner *owner;
    while ((owner = choose_light_owner(workers)) == NULL && !workers->closing)
        wait_for_light_job(self);
    if (owner == NULL)
        return NULL;
    begin_job_locked(workers, owner, job);
    workers->light_running++;
    return owner;
}

/* With the lock, which others may take meanwhile. */
static void run_job(struct workers *workers, struct owner *owner, const struct workers_job *job)
{
    unlock_and_wake(workers);
    uint64_t from_ns = clock_monotonic_ns();
    uint64_t used_ns = clock_thread_ns();
    job->run(job->argument);
    int64_t took_ns = (int64_t)(clock_monotonic_ns() - from_ns);
    used_ns = clock_thread_ns() - used_ns;
    give_way();
    pthread_mutex_lock(&workers->lock);
    count_use(workers, owner, used_ns);
    end_job_locked(workers, owner, took_ns - (int64_t)job->cost_ns);
}

/* Of this thread alone, on Linux. */
static void lower_priority(int niceness)
{
    const int most = 19;
    int lowered = getpriority(PRIO_PROCESS, (id_t)gettid()) + niceness;
    if (niceness > 0)
        (void)setpriority(PRIO_PROCESS, (id_t)gettid(), lowered < most ? lowered : most);
}

/* One job ends and the next begins under one lock, so that no other thread is woken in between. */
static void *workers_work(void *argument)
{
    struct worker *self = argument;
    struct workers *workers = self->workers;
    lower_priority(workers->settings.niceness);
    give_way_every(workers->settings.burst_ns);
    struct workers_job job;
    struct owner *owner;
    duty_set(workers->settings.duty);
    pthread_mutex_lock(&workers->lock);
    while ((owner = take_job_locked(self, &job)) != NULL) {
        run_job(workers, owner, &job);
        workers->running--;
    }
    unlock_and_wake(workers);
    return NULL;
}

static void *workers_work_light(void *argument)
{
    struct worker *self = argument;
    struct workers *workers = self->workers;
    struct workers_job job;
    struct owner *owner;
    duty_set(workers->settings.duty);
    pthread_mutex_lock(&workers->lock);
    while ((owner = take_light_job_locked(self, &job)) != NULL) {
        run_job(workers, owner, &job);
        workers->light_running--;
        /* The owner may have sent something heavier, which its light job kept from beginning. */
        if (anybody_may_begin(workers))
            wake_one(workers);
    }
    unlock_and_wake(workers);
    return NULL;
}

/* --- start and end --- */

/* Signals belong to one thread of the program, never to a worker. */
static bool start_threads(struct workers *workers, size_t threads)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (workers->n_threads < threads) {
        struct worker *worker = &workers->threads[workers->n_threads];
        void *(*work)(void *) = workers->n_threads < workers->settings.light_threads
                                    ? workers_work_light
                                    : workers_work;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            break;
        (void)pthread_setname_np(worker->thread, workers->name);
        workers->n_threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return workers->n_threads == threads;
}

static bool make_room(struct workers *workers, size_t threads)
{
    size_t queue_max = workers->settings.queue_max;
    size_t n_owners;
    if (__builtin_add_overflow(queue_max, threads, &n_owners))
        return false;
    workers->places = calloc(queue_max, sizeof *workers->places);
    workers->owners = calloc(n_owners, sizeof *workers->owners);
    if (workers->places == NULL || workers->owners == NULL)
        return false;
    for (size_t i = queue_max; i-- > 0; workers->free_places = &workers->places[i])
        workers->places[i].next = workers->free_places;
    for (size_t i = n_owners; i-- > 0; workers->free_owners = &workers->owners[i])
        workers->owners[i].next = workers->free_owners;
    return true;
}

struct workers *workers_create(const char *name, const struct workers_settings *settings)
{
    size_t threads;
    size_t size;
    if (settings->threads == 0 || settings->queue_max == 0 ||
        __builtin_add_overflow(settings->threads, settings->spare_threads, &threads) ||
        __builtin_add_overflow(threads, settings->light_threads, &threads) ||
        __builtin_mul_overflow(threads, sizeof(struct worker), &size) ||
        __builtin_add_overflow(size, sizeof(struct workers), &size))
        return NULL;
    struct workers *workers = calloc(1, size);
    if (workers == NULL)
        return NULL;
    workers->settings = *settings;
    (void)snprintf(workers->name, sizeof workers->name, "%s", name);
    pthread_mutex_init(&workers->lock, NULL);
    for (; workers->n_conds < threads; workers->n_conds++) {
        workers->threads[workers->n_conds].workers = workers;
        (void)cond_init(&workers->threads[workers->n_conds].wake);
    }
    if (!make_room(workers, threads) || !start_threads(workers, threads)) {
        workers_destroy(workers);
        return NULL;
    }
    return workers;
}

/* --- admission --- */

/* The owner with most jobs in the queue, if it has more than one with `queued` and that newest may
 * be dropped; else NULL. */
static struct owner *find_longest(struct workers *workers, size_t queued)
{
    struct owner *longest = NULL;
    struct owner *owner = workers->turn;
    do {
        if (owner->queued > queued + 1 && owner->last->job.drop != NULL)
            longest = owner;
        if (longest == owner)
            queued = owner->queued - 1;
        owner = owner->next;
    } while (owner != workers->turn);
    return longest;
}

static bool is_over(const struct place *place)
{
    return place->job.is_over != NULL && place->job.is_over(place->job.argument);
}

/*
 * By its oldest job, or by the estimates, as owners that wait share the threads. Jobs that are over
 * take no time of a thread: they do not count.
 */
static bool
waits_too_long(const struct workers *workers, const struct owner *owner, uint64_t now_ns)
{
    uint64_t wait_max_ns = workers->settings.wait_max_ns;
    if (wait_max_ns == 0 || owner == NULL)
        return false;
    uint64_t share_ns = wait_max_ns / (workers->waiting == 0 ? 1 : workers->waiting);
    uint64_t room_ns = share_ns * workers->settings.threads;
    const struct place *oldest = owner->first;
    while (oldest != NULL && is_over(oldest))
        oldest = oldest->next;
    if (oldest == NULL || now_ns - oldest->since_ns > wait_max_ns)
        return oldest != NULL;
    if (owner->queued_ns <= room_ns)
        return false;
    uint64_t queued_ns = 0;
    for (const struct place *at = oldest; at != NULL && queued_ns <= room_ns; at = at->next)
        queued_ns += is_over(at) ? 0 : at->job.cost_ns;
    return queued_ns > room_ns;
}

static enum workers_admission refuse(const struct workers *workers, const struct owner *owner)
{
    size_t others = workers->n_owners - (owner == NULL ? 0 : 1);
    return others > 0 ? WORKERS_SHARE_USED : WORKERS_FULL;
}

/* *longest: whose newest job is to make room; NULL: there is some. */
static enum workers_admission judge(struct workers *workers,
                                    const struct workers_job *job,
                                    const struct owner *owner,
                                    uint64_t now_ns,
                                    struct owner **longest)
{
    *longest = NULL;
    if (workers->closing)
        return WORKERS_FULL;
    if (job->drop != NULL && waits_too_long(workers, owner, now_ns))
        return refuse(workers, owner);
    if (workers->queued < workers->settings.queue_max)
        return WORKERS_ACCEPTED;
    *longest = find_longest(workers, owner == NULL ? 0 : owner->queued);
    return *longest == NULL ? refuse(workers, owner) : WORKERS_ACCEPTED;
}

/* *dropped: the job that made room; .run == NULL: none had to. */
static enum workers_admission
admit(struct workers *workers, const struct workers_job *job, struct workers_job *dropped)
{
    uint64_t now_ns = clock_monotonic_ns();
    struct owner *owner = find_owner(workers, job->owner);
    struct owner *longest;
    enum workers_admission admission = judge(workers, job, owner, now_ns, &longest);
    if (admission != WORKERS_ACCEPTED)
        return admission;
    if (longest != NULL)
        *dropped = remove_job(workers, longest, longest->last);
    if (owner == NULL)
        owner = add_owner(workers, job->owner);
    insert_job(workers, owner, job, now_ns);
    wake_for(workers, owner, now_ns);
    return WORKERS_ACCEPTED;
}

enum workers_admission workers_would_accept(struct workers *workers, const struct workers_job *job)
{
    struct owner *longest;
    pthread_mutex_lock(&workers->lock);
    enum workers_admission admission =
        judge(workers, job, find_owner(workers, job->owner), clock_monotonic_ns(), &longest);
    pthread_mutex_unlock(&workers->lock);
    return admission;
}

enum workers_admission workers_submit(struct workers *workers, const struct workers_job *job)
{
    struct workers_job dropped = {.run = NULL};
    pthread_mutex_lock(&workers->lock);
    enum workers_admission admission = admit(workers, job, &dropped);
    unlock_and_wake(workers);
    if (dropped.run != NULL)
        dropped.drop(dropped.argument);
    return admission;
}

struct workers_statistics workers_statistics(struct workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    struct workers_statistics now = {.queued = workers->queued,
                                     .running = workers->running + workers->light_running,
                                     .threads = workers->settings.threads,
                                     .queue_max = workers->settings.queue_max,
                                     .owners = workers->n_owners};
    pthread_mutex_unlock(&workers->lock);
    return now;
}

void workers_stop(struct workers *workers)
{
    if (workers == NULL)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->closing = true;
    wake_all(workers);
    unlock_and_wake(workers);
    for (size_t i = 0; i < workers->n_threads; i++)
        pthread_join(workers->threads[i].thread, NULL);
    workers->n_threads = 0;
}

void workers_destroy(struct workers *workers)
{
    if (workers == NULL)
        return;
    workers_stop(workers);
    for (size_t i = 0; i < workers->n_conds; i++)
        pthread_cond_destroy(&workers->threads[i].wake);
    pthread_mutex_destroy(&workers->lock);
    free(workers->owners);
    free(workers->places);
    free(workers);
}
