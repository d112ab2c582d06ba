#include "operation/parts.h"

#include <pthread.h>

#include "threads/clock.h"
#include "threads/cond.h"

/* How long a client may wait to be told of progress, and the work to be told to stop. */
static const uint64_t look_ns = 20000000;

struct team;

/* A thread and what it has in hand. */
struct operation_part {
    struct team *team;
    pthread_t thread;
    struct arena scratch;
    struct ledger_account account;
    int64_t finished;           /* of the total, by parts that are over */
    atomic_int_least64_t done; /* and by the one at hand */
};

struct team {
    const struct operation_parts *parts;
    struct operation_part *members;
    size_t n;
    atomic_size_t next; /* part */
    atomic_bool stop;
    /* Held by the thread of the operation while it may have to wait for its turn. */
    pthread_mutex_t turn;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended;
    size_t running; /* threads */
    size_t failed;  /* the first part that did; parts->n: none */
    struct pv_error why;
};

/* --- on the threads --- */

bool operation_part_goes_on(struct operation_part *part, int64_t done)
{
    struct team *team = part->team;
    atomic_store_explicit(&part->done, part->finished + done, memory_order_relaxed);
    (void)pthread_mutex_lock(&team->turn);
    (void)pthread_mutex_unlock(&team->turn);
    return !atomic_load_explicit(&team->stop, memory_order_relaxed);
}

/* Parts that were stopped did not fail. */
static void keep_failure(struct team *team, size_t index, const struct pv_error *err)
{
    if (err->code == PV_E_CANCELLED && atomic_load(&team->stop))
        return;
    (void)pthread_mutex_lock(&team->lock);
    if (index < team->failed) {
        team->failed = index;
        team->why = *err;
    }
    (void)pthread_mutex_unlock(&team->lock);
    atomic_store(&team->stop, true);
}

static void *work_parts(void *argument)
{
    struct operation_part *member = argument;
    struct team *team = member->team;
    const struct operation_parts *parts = team->parts;
    size_t index;
    while (operation_part_goes_on(member, 0) &&
           (index = atomic_fetch_add(&team->next, 1)) < parts->n) {
        struct pv_error err = {.code = PV_OK};
        int64_t done = 0;
        arena_clear(&member->scratch);
        if (parts->work(parts->context, index, member, &member->scratch, &done, &err) != PV_OK)
            keep_failure(team, index, &err);
        member->finished += done;
    }
    arena_fini(&member->scratch);
    (void)pthread_mutex_lock(&team->lock);
    team->running--;
    (void)pthread_cond_signal(&team->ended);
    (void)pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* --- on the thread of the operation --- */

static void report(struct operation_run *run, struct team *team)
{
    int64_t done = team->parts->before;
    size_t bytes = 0;
    for (size_t i = 0; i < team->n; i++) {
        done += atomic_load_explicit(&team->members[i].done, memory_order_relaxed);
        bytes += atomic_load(&team->members[i].account.used);
    }
    atomic_store(&run->flags->beside_bytes, bytes);
    (void)pthread_mutex_lock(&team->turn);
    if (!operation_progress(run, done, team->parts->total, team->parts->unit))
        atomic_store(&team->stop, true);
    (void)pthread_mutex_unlock(&team->turn);
}

static void watch(struct operation_run *run, struct team *team)
{
    (void)pthread_mutex_lock(&team->lock);
    while (team->running > 0) {
        bool signalled =
            cond_wait_until(&team->ended, &team->lock, clock_monotonic_ns() + look_ns);
        if (signalled && team->running > 0)
            continue;
        (void)pthread_mutex_unlock(&team->lock);
        report(run, team);
        (void)pthread_mutex_lock(&team->lock);
    }
    (void)pthread_mutex_unlock(&team->lock);
}

/* A thread is counted before it can end. */
static bool start_member(struct team *team, struct operation_run *run)
{
    struct operation_part *member = &team->members[team->n];
    const struct ledger_account *own = run->arena->account;
    *member = (struct operation_part){.team = team};
    member->account.share = own == NULL ? NULL : own->share;
    arena_init(&member->scratch, team->parts->scratch_bytes_max);
    member->scratch.account = &member->account;
    (void)pthread_mutex_lock(&team->lock);
    bool started = pthread_create(&member->thread, NULL, work_parts, member) == 0;
    team->running += started;
    team->n += started;
    (void)pthread_mutex_unlock(&team->lock);
    return started;
}

/* What the threads were refused, the operation was. */
static void join_members(struct team *team, struct operation_run *run)
{
    struct ledger_account *own = run->arena->account;
    for (size_t i = 0; i < team->n; i++) {
        const struct ledger_account *account = &team->members[i].account;
        (void)pthread_join(team->members[i].thread, NULL);
        if (own == NULL || !account->refused)
            continue;
        own->refused = true;
        own->wanted = account->wanted > SIZE_MAX - own->used ? SIZE_MAX
                                                             : account->wanted + own->used;
    }
    atomic_store(&run->flags->beside_bytes, 0);
}

static enum pv_code
conclude(const struct team *team, const struct operation_run *run, struct pv_error *err)
{
    if (team->n == 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "no thread could be started");
    if (!operation_goes_on(run))
        return pv_fail(err, PV_E_CANCELLED, "the work was cancelled");
    if (team->failed == team->parts->n)
        return PV_OK;
    if (err != NULL)
        *err = team->why;
    return team->why.code;
}

static enum pv_code
run_team(struct operation_run *run, struct team *team, struct pv_error *err)
{
    const struct operation_parts *parts = team->parts;
    size_t most = parts->threads < parts->n ? parts->threads : parts->n;
    team->members = arena_calloc(run->arena, most, sizeof *team->members);
    if (team->members == NULL)
        return pv_no_memory(err);
    bool started = true;
    while (started && team->n < most)
        started = start_member(team, run);
    watch(run, team);
    join_members(team, run);
    return conclude(team, run, err);
}

enum pv_code operation_parts_run(struct operation_run *run,
                                 const struct operation_parts *parts,
                                 struct pv_error *err)
{
    struct team team = {.parts = parts, .failed = parts->n};
    if (parts->n == 0)
        return PV_OK;
    if (!cond_init(&team.ended))
        return pv_no_memory(err);
    (void)pthread_mutex_init(&team.turn, NULL);
    (void)pthread_mutex_init(&team.lock, NULL);
    enum pv_code code = run_team(run, &team, err);
    (void)pthread_mutex_destroy(&team.lock);
    (void)pthread_mutex_destroy(&team.turn);
    (void)pthread_cond_destroy(&team.ended);
    return code;
}
