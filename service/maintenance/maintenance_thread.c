#define _GNU_SOURCE /* pthread_setname_np */
#include "maintenance/maintenance_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "log/log.h"
#include "maintenance/pass.h"
#include "metrics/registry.h"
#include "threads/clock.h"
#include "threads/cond.h"

enum {
    NOT_READY_S = 1, /* between looks at a schema that is behind */
    FAILED_S = 60,   /* after a pass that failed */
    ASK_S = 60       /* at most between two questions whether a pass is due */
};

enum outcome { DONE, SKIPPED, FAILED, OUTCOMES };
static const char *const outcome_names[OUTCOMES] = {"done", "skipped", "failed"};

METRIC_COUNTER(passes,
               "provisor_maintenance_passes_total",
               "Passes of the maintenance: done, skipped because none was due, or failed.",
               "outcome");
METRIC_COUNTER(changes,
               "provisor_maintenance_total",
               "What the maintenance removed, summarized and made, by kind.",
               "kind");
METRIC_GAUGE(last_pass_seconds,
             "provisor_maintenance_last_pass_duration_seconds",
             "How long the last pass of this process took.",
             "");
METRIC_GAUGE(last_pass_at,
             "provisor_maintenance_last_pass_timestamp_seconds",
             "When it ended, in seconds since 1970; 0: none yet.",
             "");

struct maintenance_thread {
    struct store *store;
    const struct config *config;
    struct maintenance_listener listener;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    atomic_bool stop;
    bool started;
    pthread_t thread;
};

/* --- what became of a pass --- */

static void count_pass(enum outcome outcome, const struct maintenance_tally *tally, double seconds)
{
    metric_add(&passes, 1, METRIC_LABELS(outcome_names[outcome]));
    for (size_t i = 0; i < maintenance_kinds_n; i++) {
        uint64_t n = maintenance_count(tally, &maintenance_kinds[i]);
        if (n > 0)
            metric_add(&changes, (double)n, METRIC_LABELS(maintenance_kinds[i].name));
    }
    if (outcome == DONE) {
        metric_set(&last_pass_seconds, seconds, NULL);
        metric_set(&last_pass_at, (double)clock_wall_us() * 1e-6, NULL);
    }
}

static void
maintenance_thread_report(enum outcome outcome, const struct maintenance_tally *t, double seconds)
{
    LOG_EVENT(outcome == FAILED ? LOG_WARN : LOG_INFO, "maintenance.pass", NULL,
              LOG_TEXT("outcome", outcome_names[outcome]), LOG_NUMBER("duration_s", seconds),
              LOG_COUNT("runs", t->runs), LOG_COUNT("runs_thinned", t->runs_thinned),
              LOG_COUNT("stages_thinned", t->stages_thinned), LOG_COUNT("keys", t->keys),
              LOG_COUNT("events", t->events), LOG_COUNT("deliveries", t->deliveries),
              LOG_COUNT("admissions", t->admissions), LOG_COUNT("advice", t->advice),
              LOG_COUNT("audit", t->audit), LOG_COUNT("ingestions", t->ingestions),
              LOG_COUNT("performance", t->performance), LOG_COUNT("operations", t->operations),
              LOG_COUNT("partitions_made", t->partitions_made),
              LOG_COUNT("partitions_dropped", t->partitions_dropped));
}

/* --- the thread --- */

/* Sleeps; false when the maintenance thread is to end. */
static bool wait_for_pass(struct maintenance_thread *maintenance, int64_t seconds)
{
    uint64_t until_ns = clock_monotonic_ns() + (uint64_t)seconds * UINT64_C(1000000000);
    pthread_mutex_lock(&maintenance->lock);
    while (!atomic_load(&maintenance->stop) &&
           cond_wait_until(&maintenance->wake, &maintenance->lock, until_ns))
        ;
    bool go_on = !atomic_load(&maintenance->stop);
    pthread_mutex_unlock(&maintenance->lock);
    return go_on;
}

static bool await_schema(struct maintenance_thread *maintenance)
{
    struct pv_error err = {.code = PV_OK};
    while (store_ready(maintenance->store, NULL, &err) != PV_OK)
        if (!wait_for_pass(maintenance, NOT_READY_S))
            return false;
    return true;
}

/* A pass that was not due is no news: replicas ask every minute so that one is never late. */
static int64_t pass_once(struct maintenance_thread *maintenance)
{
    int64_t every_s = maintenance->config->maintenance_interval_s;
    uint64_t began = clock_monotonic_ns();
    struct maintenance_tally tally;
    struct pv_error err = {.code = PV_OK};
    enum pv_code code =
        maintenance_pass(maintenance->store, maintenance->config, &maintenance->listener, every_s,
                         &maintenance->stop, &tally, &err);
    double seconds = (double)(clock_monotonic_ns() - began) * 1e-9;
    enum outcome outcome = code != PV_OK ? FAILED : tally.done ? DONE : SKIPPED;
    count_pass(outcome, &tally, seconds);
    if (outcome != SKIPPED)
        maintenance_thread_report(outcome, &tally, seconds);
    if (outcome == FAILED)
        return every_s < FAILED_S ? every_s : FAILED_S;
    return every_s < ASK_S ? every_s : ASK_S;
}

static void *run_maintenance(void *argument)
{
    struct maintenance_thread *maintenance = argument;
    if (!await_schema(maintenance))
        return NULL;
    while (wait_for_pass(maintenance, pass_once(maintenance)))
        ;
    return NULL;
}

/* Signals belong to one thread of the program, never to this one. */
static bool maintenance_thread_start(struct maintenance_thread *maintenance)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    maintenance->started =
        pthread_create(&maintenance->thread, NULL, run_maintenance, maintenance) == 0;
    if (maintenance->started)
        (void)pthread_setname_np(maintenance->thread, "maintenance");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return maintenance->started;
}

struct maintenance_thread *maintenance_thread_create(struct store *store,
                                                     const struct config *config,
                                                     struct maintenance_listener listener)
{
    struct maintenance_thread *maintenance = calloc(1, sizeof *maintenance);
    if (maintenance == NULL)
        return NULL;
    maintenance->store = store;
    maintenance->config = config;
    maintenance->listener = listener;
    atomic_init(&maintenance->stop, false);
    pthread_mutex_init(&maintenance->lock, NULL);
    (void)cond_init(&maintenance->wake);
    if (config->maintenance_interval_s == 0 || maintenance_thread_start(maintenance))
        return maintenance;
    maintenance_thread_destroy(maintenance);
    return NULL;
}

void maintenance_thread_destroy(struct maintenance_thread *maintenance)
{
    if (maintenance == NULL)
        return;
    pthread_mutex_lock(&maintenance->lock);
    atomic_store(&maintenance->stop, true);
    pthread_cond_broadcast(&maintenance->wake);
    pthread_mutex_unlock(&maintenance->lock);
    if (maintenance->started)
        pthread_join(maintenance->thread, NULL);
    pthread_cond_destroy(&maintenance->wake);
    pthread_mutex_destroy(&maintenance->lock);
    free(maintenance);
}
