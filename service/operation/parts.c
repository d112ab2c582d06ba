#include "operation/parts.h"

#include <pthread.h>

#include "threads/clock.h"
#include "threads/cond.h"

/* How long a client may wait to be told of progress, and the work to be told to stop. */
static const uint64_t look_ns = 20000000;

struct crew;

/* A thread and what it has in hand. */
struct operation_part {
    struct crew *crew;
    pthread_t thread;
    struct arena scratch;
    struct ledger_account account;
    size_t index;              /* of the part at hand */
    int64_t finished;          /* of the total, by parts that are over */
    atomic_int_least64_t done; /* and by the one at hand */
};

struct crew {
    const struct operation_parts *parts;
    struct operation_part *members;
    size_t n;
    atomic_size_t next; /* part */
    atomic_bool stop;
    /* The first part that failed, as far as is known; parts->n: none. Written under the lock. */
    atomic_size_t failed;
    /* Held by the thread of the operation while it may have to wait for its turn. */
    pthread_mutex_t turn;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended;
    size_t running;      /* threads */
    struct pv_error why; /* that part's error */
};

/* --- on the threads --- */

/* Parts are begun in order: each before one that failed is under way, and goes on until it is known
 * whether it fails as well. So the error does not depend on which thread was quickest. */
static bool is_stopped(const struct operation_part *part)
{
    return atomic_load_explicit(&part->crew->stop, memory_order_relaxed) ||
           part->index > atomic_load_explicit(&part->crew->failed, memory_order_relaxed);
}

bool operation_part_goes_on(struct operation_part *part, int64_t done)
{
    struct crew *crew = part->crew;
    atomic_store_explicit(&part->done, part->finished + done, memory_order_relaxed);
    (void)pthread_mutex_lock(&crew->turn);
    (void)pthread_mutex_unlock(&crew->turn);
    return !is_stopped(part);
}

/* Parts that were stopped did not fail. */
static void keep_failure(const struct operation_part *part, const struct pv_error *err)
{
    struct crew *crew = part->crew;
    if (err->code == PV_E_CANCELLED && is_stopped(part))
        return;
    (void)pthread_mutex_lock(&crew->lock);
    if (part->index < atomic_load(&crew->failed)) {
        atomic_store(&crew->failed, part->index);
        crew->why = *err;
    }
    (void)pthread_mutex_unlock(&crew->lock);
}

static void *work_parts(void *argument)
{
    struct operation_part *member = argument;
    struct crew *crew = member->crew;
    const struct operation_parts *parts = crew->parts;
    while ((member->index = atomic_fetch_add(&crew->next, 1)) < parts->n &&
           operation_part_goes_on(member, 0)) {
        struct pv_error err = {.code = PV_OK};
        int64_t done = 0;
        arena_clear(&member->scratch);
        if (parts->work(parts->context, member->index, member, &member->scratch, &done, &err) !=
            PV_OK)
            keep_failure(member, &err);
        member->finished += done;
        atomic_store_explicit(&member->done, member->finished, memory_order_relaxed);
    }
    arena_fini(&member->scratch);
    (void)pthread_mutex_lock(&crew->lock);
    crew->running--;
    (void)pthread_cond_signal(&crew->ended);
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* --- on the thread of the operation --- */

static void report(struct operation_run *run, struct crew *crew)
{
    int64_t done = crew->parts->before;
    size_t bytes = 0;
    for (size_t i = 0; i < crew->n; i++) {
        done += atomic_load_explicit(&crew->members[i].done, memory_order_relaxed);
        bytes += atomic_load(&crew->members[i].account.used);
    }
    atomic_store(&run->flags->beside_bytes, bytes);
    (void)pthread_mutex_lock(&crew->turn);
    if (!operation_progress(run, done, crew->parts->total, crew->parts->unit))
        atomic_store(&crew->stop, true);
    (void)pthread_mutex_unlock(&crew->turn);
}

static void watch(struct operation_run *run, struct crew *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    while (crew->running > 0) {
        bool signalled = cond_wait_until(&crew->ended, &crew->lock, clock_monotonic_ns() + look_ns);
        if (signalled && crew->running > 0)
            continue;
        (void)pthread_mutex_unlock(&crew->lock);
        report(run, crew);
        (void)pthread_mutex_lock(&crew->lock);
    }
    (void)pthread_mutex_unlock(&crew->lock);
}

/* A thread is counted before it can end. */
static bool start_member(struct crew *crew, struct operation_run *run)
{
    struct operation_part *member = &crew->members[crew->n];
    const struct ledger_account *own = run->arena->account;
    *member = (struct operation_part){.crew = crew};
    member->account.share = own == NULL ? NULL : own->share;
    arena_init(&member->scratch, crew->parts->scratch_bytes_max);
    member->scratch.account = &member->account;
    (void)pthread_mutex_lock(&crew->lock);
    bool started = pthread_create(&member->thread, NULL, work_parts, member) == 0;
    crew->running += started;
    crew->n += started;
    (void)pthread_mutex_unlock(&crew->lock);
    return started;
}

/* What the threads were refused, the operation was. */
static void join_members(struct crew *crew, struct operation_run *run)
{
    struct ledger_account *own = run->arena->account;
    for (size_t i = 0; i < crew->n; i++) {
        const struct ledger_account *account = &crew->members[i].account;
        (void)pthread_join(crew->members[i].thread, NULL);
        if (own == NULL || !account->refused)
            continue;
        own->refused = true;
        own->wanted =
            account->wanted > SIZE_MAX - own->used ? SIZE_MAX : account->wanted + own->used;
    }
    atomic_store(&run->flags->beside_bytes, 0);
}

static enum pv_code
conclude(const struct crew *crew, const struct operation_run *run, struct pv_error *err)
{
    if (crew->n == 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "no thread could be started");
    if (!operation_goes_on(run))
        return pv_fail(err, PV_E_CANCELLED, "the work was cancelled");
    if (atomic_load(&crew->failed) == crew->parts->n)
        return PV_OK;
    if (err != NULL)
        *err = crew->why;
    return crew->why.code;
}

static enum pv_code run_crew(struct operation_run *run, struct crew *crew, struct pv_error *err)
{
    const struct operation_parts *parts = crew->parts;
    size_t most = parts->threads < parts->n ? parts->threads : parts->n;
    crew->members = arena_calloc(run->arena, most, sizeof *crew->members);
    if (crew->members == NULL)
        return pv_no_memory(err);
    bool started = true;
    while (started && crew->n < most)
        started = start_member(crew, run);
    watch(run, crew);
    join_members(crew, run);
    return conclude(crew, run, err);
}

enum pv_code operation_parts_run(struct operation_run *run,
                                 const struct operation_parts *parts,
                                 struct pv_error *err)
{
    struct crew crew = {.parts = parts, .failed = parts->n};
    if (parts->n == 0)
        return PV_OK;
    if (!cond_init(&crew.ended))
        return pv_no_memory(err);
    (void)pthread_mutex_init(&crew.turn, NULL);
    (void)pthread_mutex_init(&crew.lock, NULL);
    enum pv_code code = run_crew(run, &crew, err);
    (void)pthread_mutex_destroy(&crew.lock);
    (void)pthread_mutex_destroy(&crew.turn);
    (void)pthread_cond_destroy(&crew.ended);
    return code;
}
