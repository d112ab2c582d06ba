#define _GNU_SOURCE /* gettid, pthread_setname_np */
#include "operation/runner.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "log/log.h"
#include "operation/runner_internal.h"
#include "threads/clock.h"
#include "threads/cond.h"

/* Requests come first: about a tenth of the weight of a thread that serves them. */
enum { NICENESS = 10 };

/* --- workers --- */

/* true: there may be something to claim. false: the runner is ending. */
static bool await_work(struct operation_runner *runner)
{
    (void)pthread_mutex_lock(&runner->lock);
    while (runner->looks == 0 && !runner->ending)
        (void)pthread_cond_wait(&runner->wake, &runner->lock);
    bool go_on = !runner->ending;
    if (go_on)
        runner->looks--;
    (void)pthread_mutex_unlock(&runner->lock);
    return go_on;
}

static bool claim_operation(struct operation_runner *runner, struct operation_key *key)
{
    struct arena arena;
    struct pv_error err = {.code = PV_OK};
    bool taken = false;
    arena_init(&arena, 0);
    enum pv_code code =
        store_operation_claim(runner->options.store, &arena, runner->worker, runner->kind_names,
                              runner->n_kinds, runner->config->operation_lease_s * 1000,
                              runner->config->operation_team_running_max, key, &taken, &err);
    arena_fini(&arena);
    if (code != PV_OK)
        LOG_EVENT(LOG_WARN, "operation.none_claimed", NULL, LOG_TEXT("reason", err.detail));
    return code == PV_OK && taken;
}

/* The attempt is ours before the first beat that does not list it could end. */
static void
slot_assign(struct runner_slot *slot, const struct operation_key *key, uint64_t asked_ns)
{
    struct operation_runner *runner = slot->runner;
    (void)pthread_mutex_lock(&runner->lock);
    progress_flags_reset(&slot->flags);
    slot->key = *key;
    slot->lease_end_ns = asked_ns + (uint64_t)runner->config->operation_lease_s * 1000000000u;
    slot->busy = true;
    if (runner->ending)
        progress_flags_stop(&slot->flags, STOP_ENDING);
    (void)pthread_mutex_unlock(&runner->lock);
}

static void slot_release(struct runner_slot *slot)
{
    (void)pthread_mutex_lock(&slot->runner->lock);
    slot->busy = false;
    (void)pthread_mutex_unlock(&slot->runner->lock);
}

/* Where one was there may be more: the next worker looks while this one is busy. */
static void *run_worker(void *argument)
{
    struct runner_slot *slot = argument;
    struct operation_runner *runner = slot->runner;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
    while (await_work(runner)) {
        struct operation_key key;
        uint64_t asked_ns = clock_monotonic_ns();
        if (!claim_operation(runner, &key))
            continue;
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
        slot->runner = runner;
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
    free(runner->kind_names);
    free(runner->slots);
    free(runner);
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
    made->n_slots = (size_t)options->config->operation_workers;
    made->slots = calloc(made->n_slots, sizeof *made->slots);
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)cond_init(&made->wake);
    (void)cond_init(&made->tick);
    operation_name_worker(made->worker);
    if (made->slots == NULL || !name_kinds(made)) {
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
            progress_flags_stop(&runner->slots[i].flags, STOP_ENDING);
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
