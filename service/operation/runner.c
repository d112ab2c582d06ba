#define _GNU_SOURCE /* gettid, pthread_setname_np */
#include "operation/runner.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "log/log.h"
#include "operation/runner_internal.h"
#include "threads/clock.h"
#include "threads/cond.h"

/* Requests come first: a seventh of the weight of a thread that serves them (worker_niceness). */
enum { NICENESS = 19 };

/* --- workers --- */

/* true: there may be something to claim, and nobody else claims until claim_ended. false: the
 * runner is ending. */
static bool await_work(struct operation_runner *runner)
{
    (void)pthread_mutex_lock(&runner->lock);
    while ((runner->looks == 0 || runner->claiming) && !runner->ending)
        (void)pthread_cond_wait(&runner->wake, &runner->lock);
    bool go_on = !runner->ending;
    if (go_on) {
        runner->looks--;
        runner->claiming = true;
    }
    (void)pthread_mutex_unlock(&runner->lock);
    return go_on;
}

/* The lock is held. */
static void claim_ended(struct operation_runner *runner)
{
    runner->claiming = false;
    if (runner->looks > 0)
        (void)pthread_cond_signal(&runner->wake);
}

/*
 * What may be claimed as things stand. With every worker busy, what has waited for so long that
 * idle replicas, which look at every beat, have all left it, and not of teams that hold enough
 * here. false: nothing, or no memory to ask.
 */
static bool runner_bound_claim(struct operation_runner *runner,
                               struct arena *arena,
                               struct operation_claim *claim)
{
    enum { WAITED_MS = 800 };
    const struct turns *turns = &runner->turns;
    struct operation_key *barred = arena_calloc(arena, runner->n_slots, sizeof *barred);
    if (barred == NULL)
        return false;
    (void)pthread_mutex_lock(&runner->lock);
    enum turns_room room = turns_room(turns);
    for (size_t i = 0; room == TURNS_BUSY && i < turns->n; i++)
        if (turns->items[i].state != TURN_NONE && turns_bars(turns, turns->items[i].team_id))
            memcpy(barred[claim->n_barred++].team_id, turns->items[i].team_id,
                   sizeof barred->team_id);
    (void)pthread_mutex_unlock(&runner->lock);
    claim->barred = barred;
    claim->waited_ms = room == TURNS_BUSY ? WAITED_MS : 0;
    return room != TURNS_FULL;
}

static bool claim_operation(struct operation_runner *runner, struct operation_key *key)
{
    struct arena arena;
    struct pv_error err = {.code = PV_OK};
    struct operation_claim claim = {.worker = runner->worker,
                                    .kinds = runner->kind_names,
                                    .n_kinds = runner->n_kinds,
                                    .lease_ms = runner->config->operation_lease_s * 1000,
                                    .team_running_max = runner->config->operation_team_running_max};
    enum pv_code code = PV_OK;
    bool taken = false;
    arena_init(&arena, 0);
    if (runner_bound_claim(runner, &arena, &claim))
        code = store_operation_claim(runner->options.store, &arena, &claim, key, &taken, &err);
    arena_fini(&arena);
    if (code != PV_OK)
        LOG_EVENT(LOG_WARN, "operation.none_claimed", NULL, LOG_TEXT("reason", err.detail));
    return code == PV_OK && taken;
}

/* --- turns --- */

/* The lock is held. */
static void give_turns(struct operation_runner *runner)
{
    size_t at;
    while ((at = turns_give(&runner->turns, clock_monotonic_ns())) < runner->turns.n) {
        atomic_store(&runner->slots[at].flags.over, false);
        (void)pthread_cond_signal(&runner->slots[at].turn);
    }
}

/* No more are asked than wait; the others are at the next beat. */
void runner_review_turns(struct operation_runner *runner)
{
    const struct turns *turns = &runner->turns;
    uint64_t now_ns = clock_monotonic_ns();
    size_t asked = 0;
    for (size_t i = 0; i < turns->n && asked < turns_count(turns, TURN_WAITING); i++)
        if (turns_is_over(turns, i, now_ns)) {
            atomic_store(&runner->slots[i].flags.over, true);
            asked++;
        }
}

static struct turn *turn_of(const struct runner_slot *slot)
{
    return &slot->runner->turns.items[slot - slot->runner->slots];
}

void slot_stop(struct runner_slot *slot, enum operation_stop why)
{
    progress_flags_stop(&slot->flags, why);
    (void)pthread_cond_signal(&slot->turn);
}

/* The lock is held. */
static bool await_turn_locked(struct runner_slot *slot)
{
    struct turn *turn = turn_of(slot);
    while (turn->state == TURN_WAITING && atomic_load(&slot->flags.stop) == STOP_NOT)
        (void)pthread_cond_wait(&slot->turn, &slot->runner->lock);
    if (turn->state == TURN_WAITING)
        turn->state = TURN_LEAVING;
    return atomic_load(&slot->flags.stop) == STOP_NOT;
}

bool slot_await_turn(struct runner_slot *slot)
{
    (void)pthread_mutex_lock(&slot->runner->lock);
    bool go_on = await_turn_locked(slot);
    (void)pthread_mutex_unlock(&slot->runner->lock);
    return go_on;
}

size_t slot_bytes(const struct runner_slot *slot)
{
    return atomic_load(&slot->account.used) + atomic_load(&slot->flags.beside_bytes);
}

void slot_pause(struct runner_slot *slot)
{
    struct operation_runner *runner = slot->runner;
    size_t at = (size_t)(slot - runner->slots);
    (void)pthread_mutex_lock(&runner->lock);
    atomic_store(&slot->flags.over, false);
    uint64_t now_ns = clock_monotonic_ns();
    bool stops = atomic_load(&slot->flags.stop) != STOP_NOT;
    if (!stops && turns_is_over(&runner->turns, at, now_ns) &&
        turns_pause(&runner->turns, at, slot_bytes(slot), now_ns)) {
        runner_count_pause();
        slot->pauses++;
        give_turns(runner);
        (void)await_turn_locked(slot);
    }
    (void)pthread_mutex_unlock(&runner->lock);
}

/* --- from a claim to its end --- */

/* The attempt is ours before the first beat that does not list it could end. */
static void
slot_assign(struct runner_slot *slot, const struct operation_key *key, uint64_t asked_ns)
{
    struct operation_runner *runner = slot->runner;
    (void)pthread_mutex_lock(&runner->lock);
    progress_flags_reset(&slot->flags);
    slot->key = *key;
    slot->pauses = 0;
    slot->lease_end_ns = asked_ns + (uint64_t)runner->config->operation_lease_s * 1000000000u;
    slot->busy = true;
    if (runner->ending)
        progress_flags_stop(&slot->flags, STOP_ENDING);
    struct turn *turn = turn_of(slot);
    *turn = (struct turn){.state = TURN_WAITING, .since_ns = clock_monotonic_ns()};
    memcpy(turn->team_id, key->team_id, sizeof turn->team_id);
    give_turns(runner);
    runner_review_turns(runner);
    claim_ended(runner);
    (void)pthread_mutex_unlock(&runner->lock);
}

static void slot_release(struct runner_slot *slot)
{
    (void)pthread_mutex_lock(&slot->runner->lock);
    slot->busy = false;
    turns_leave(&slot->runner->turns, (size_t)(slot - slot->runner->slots), clock_monotonic_ns());
    give_turns(slot->runner);
    (void)pthread_mutex_unlock(&slot->runner->lock);
}

static void nothing_claimed(struct operation_runner *runner)
{
    (void)pthread_mutex_lock(&runner->lock);
    claim_ended(runner);
    (void)pthread_mutex_unlock(&runner->lock);
}

/* Where one was there may be more: the next thread looks while this one is busy. */
static void *run_worker(void *argument)
{
    struct runner_slot *slot = argument;
    struct operation_runner *runner = slot->runner;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
    while (await_work(runner)) {
        struct operation_key key;
        uint64_t asked_ns = clock_monotonic_ns();
        if (!claim_operation(runner, &key)) {
            nothing_claimed(runner);
            continue;
        }
        slot_assign(slot, &key, asked_ns);
        operation_runner_wake(runner);
        attempt_run(slot, &key);
        slot_release(slot);
        operation_runner_wake(runner);
    }
    return NULL;
}

/* --- life --- */

static bool name_kinds(struct operation_runner *runner)
{
    while (runner->options.kinds[runner->n_kinds].run != NULL)
        runner->n_kinds++;
    runner->kind_names = calloc(runner->n_kinds + 1, sizeof *runner->kind_names);
    if (runner->kind_names == NULL)
        return false;
    for (size_t i = 0; i < runner->n_kinds; i++)
        runner->kind_names[i] = strview_of(runner->options.kinds[i].name);
    return true;
}

/* Signals belong to one thread of the program, never to these. */
static bool start_threads(struct operation_runner *runner)
{
    sigset_t all;
    sigset_t before;
    bool sound = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 0; sound && i < runner->n_slots; i++) {
        struct runner_slot *slot = &runner->slots[i];
        sound = slot->started = pthread_create(&slot->thread, NULL, run_worker, slot) == 0;
        if (sound)
            (void)pthread_setname_np(slot->thread, "operation");
    }
    sound = sound && pthread_create(&runner->beat, NULL, heartbeat_run, runner) == 0;
    runner->beating = sound;
    if (sound)
        (void)pthread_setname_np(runner->beat, "heart-beat");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return sound;
}

static void destroy_runner(struct operation_runner *runner)
{
    (void)pthread_mutex_destroy(&runner->lock);
    (void)pthread_cond_destroy(&runner->wake);
    (void)pthread_cond_destroy(&runner->tick);
    for (size_t i = 0; runner->slots != NULL && i < runner->n_slots; i++)
        (void)pthread_cond_destroy(&runner->slots[i].turn);
    free(runner->turns.items);
    free(runner->kind_names);
    free(runner->slots);
    free(runner);
}

static bool make_slots(struct operation_runner *runner)
{
    const struct config *config = runner->config;
    size_t workers = (size_t)config->operation_workers;
    runner->n_slots = workers + (size_t)config->operation_paused_max;
    runner->slots = calloc(runner->n_slots, sizeof *runner->slots);
    runner->turns = (struct turns){.items = calloc(runner->n_slots, sizeof(struct turn)),
                                   .n = runner->n_slots,
                                   .workers = workers,
                                   .slice_ns = (uint64_t)config->operation_slice_ms * 1000000,
                                   .paused_bytes_max = (size_t)config->operation_paused_bytes_max};
    for (size_t i = 0; runner->slots != NULL && i < runner->n_slots; i++) {
        struct runner_slot *slot = &runner->slots[i];
        slot->runner = runner;
        (void)cond_init(&slot->turn);
    }
    return runner->slots != NULL && runner->turns.items != NULL;
}

enum pv_code operation_runner_create(const struct operation_runner_options *options,
                                     struct operation_runner **runner,
                                     struct pv_error *err)
{
    enum { START_FAILED_S = 5 };
    *runner = NULL;
    if (options->config->operation_workers == 0)
        return PV_OK;
    struct operation_runner *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->options = *options;
    made->config = options->config;
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)cond_init(&made->wake);
    (void)cond_init(&made->tick);
    operation_name_worker(made->worker);
    if (!make_slots(made) || !name_kinds(made)) {
        destroy_runner(made);
        return pv_no_memory(err);
    }
    if (!start_threads(made)) {
        (void)operation_runner_join(made, START_FAILED_S);
        return pv_fail(err, PV_E_UNAVAILABLE, "no thread for long work");
    }
    *runner = made;
    return PV_OK;
}

void operation_runner_wake(struct operation_runner *runner)
{
    if (runner == NULL)
        return;
    (void)pthread_mutex_lock(&runner->lock);
    if (runner->looks == 0)
        runner->looks = 1;
    (void)pthread_cond_signal(&runner->wake);
    (void)pthread_mutex_unlock(&runner->lock);
}

void operation_runner_ask_end(struct operation_runner *runner)
{
    if (runner == NULL)
        return;
    (void)pthread_mutex_lock(&runner->lock);
    runner->ending = true;
    for (size_t i = 0; i < runner->n_slots; i++)
        if (runner->slots[i].busy)
            slot_stop(&runner->slots[i], STOP_ENDING);
    (void)pthread_cond_broadcast(&runner->wake);
    (void)pthread_cond_broadcast(&runner->tick);
    (void)pthread_mutex_unlock(&runner->lock);
}

bool operation_runner_join(struct operation_runner *runner, unsigned seconds)
{
    if (runner == NULL)
        return true;
    operation_runner_ask_end(runner);
    uint64_t until_ns = clock_monotonic_ns() + (uint64_t)seconds * UINT64_C(1000000000);
    for (size_t i = 0; i < runner->n_slots; i++)
        if (runner->slots[i].started && !thread_join_until(runner->slots[i].thread, until_ns))
            return false;
    if (runner->beating && !thread_join_until(runner->beat, until_ns))
        return false;
    destroy_runner(runner);
    return true;
}
