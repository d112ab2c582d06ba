#define _GNU_SOURCE /* gettid, pthread_setname_np */
#include "api/models/fitter.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/advice/prediction_cache.h"
#include "api/models/application_models.h"
#include "api/models/fit_queue.h"
#include "log/log.h"
#include "metrics/registry.h"
#include "threads/clock.h"
#include "threads/cond.h"

/* Requests come first: a seventh of the weight of a thread that serves them (worker_niceness). */
enum { NICENESS = 19 };

struct fitter {
    struct api *api;
    struct fit_queue *queue;
    pthread_t thread;
};

METRIC_GAUGE(waiting, "provisor_fits_waiting", "Applications whose models wait to be fitted.", "");
METRIC_GAUGE(running,
             "provisor_fits_running",
             "Applications whose models are being fitted on arrival.",
             "");
METRIC_COUNTER(
    spared,
    "provisor_fits_spared_total",
    "Changes of a history that needed no fit of their own: merged with others that waited, "
    "or current because somebody else had fitted.",
    "reason");
METRIC_COUNTER(missed,
               "provisor_fits_missed_total",
               "Changes left to the first reader: queue_full, or failed.",
               "reason");
METRIC_COUNTER(fit_seconds,
               "provisor_fit_seconds_total",
               "Time of the fits on arrival, with the database's.",
               "");

/* Linux keeps a niceness for each thread, POSIX one for the process. */
static void yield_to_requests(void)
{
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
}

static void count_fit(enum pv_code code, bool fitted)
{
    if (code == PV_OK && !fitted)
        metric_add(&spared, 1, METRIC_LABELS("current"));
    else if (code != PV_OK && code != PV_E_NOT_FOUND) /* removed meanwhile */
        metric_add(&missed, 1, METRIC_LABELS("failed"));
}

static enum pv_code prepare(struct api *api, const struct fit_key *key, struct pv_error *err)
{
    struct arena arena;
    arena_init(&arena, (size_t)api->config->request_memory_bytes_max);
    enum pv_code code =
        application_models_prepare(api, &arena, key->team_id, key->application, err);
    arena_fini(&arena);
    return code;
}

static void fit_one(struct api *api, const struct fit_key *key)
{
    struct arena arena;
    struct pv_error err;
    bool fitted = false;
    pv_error_clear(&err);
    arena_init(&arena, (size_t)api->config->request_memory_bytes_max);
    enum pv_code code =
        application_models_refresh(api, &arena, key->team_id, key->application, &fitted, &err);
    arena_fini(&arena);
    if (code == PV_OK)
        code = prepare(api, key, &err);
    count_fit(code, fitted);
    if (code != PV_OK && code != PV_E_NOT_FOUND)
        LOG_EVENT(LOG_WARN, "fitter.failed", NULL, LOG_TEXT("code", pv_code_name(code)),
                  LOG_TEXT("reason", err.detail));
}

static void *fitter_serve(void *argument)
{
    struct fitter *fitter = argument;
    struct fit_key key;
    yield_to_requests();
    while (fit_queue_take(fitter->queue, &key)) {
        uint64_t began = clock_monotonic_ns();
        fit_one(fitter->api, &key);
        fit_queue_done(fitter->queue);
        uint64_t took = clock_monotonic_ns() - began;
        metric_add(&fit_seconds, (double)took * 1e-9, NULL);
        fit_queue_rest(fitter->queue, took);
    }
    return NULL;
}

/* Signals belong to one thread of the program. */
static bool start_thread(struct fitter *fitter)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&fitter->thread, NULL, fitter_serve, fitter) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        (void)pthread_setname_np(fitter->thread, "fitter");
    return started;
}

enum pv_code fitter_start(struct api *api, struct fitter **fitter, struct pv_error *err)
{
    *fitter = NULL;
    if (api->config->fit_queue == 0)
        return PV_OK;
    struct fitter *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->api = api;
    made->queue = fit_queue_create((size_t)api->config->fit_queue, api->config->fit_settle_ms);
    enum pv_code code = PV_OK;
    if (made->queue == NULL)
        code = pv_no_memory(err);
    else if (!start_thread(made))
        code = pv_fail(err, PV_E_UNAVAILABLE, "no thread to fit models");
    if (code != PV_OK) {
        fit_queue_destroy(made->queue);
        free(made);
        return code;
    }
    *fitter = made;
    return PV_OK;
}

void api_history_changed(struct api *api, const char *team_id, const char *application)
{
    prediction_cache_invalidate(api->history, team_id, application);
    if (api->fitter != NULL)
        (void)fit_queue_add(api->fitter->queue, team_id, application);
}

void fitter_ask_end(struct fitter *fitter)
{
    if (fitter != NULL)
        fit_queue_close(fitter->queue);
}

bool fitter_join(struct fitter *fitter, unsigned seconds)
{
    if (fitter == NULL)
        return true;
    fit_queue_close(fitter->queue);
    uint64_t until_ns = clock_monotonic_ns() + (uint64_t)seconds * UINT64_C(1000000000);
    if (!thread_join_until(fitter->thread, until_ns))
        return false;
    fit_queue_destroy(fitter->queue);
    free(fitter);
    return true;
}

void fitter_collect_metrics(struct api *api)
{
    if (api->fitter == NULL)
        return;
    struct fit_queue_statistics queue = fit_queue_statistics(api->fitter->queue);
    metric_set(&waiting, (double)queue.waiting, NULL);
    metric_set(&running, (double)queue.running, NULL);
    metric_set(&spared, (double)queue.merged, METRIC_LABELS("merged"));
    metric_set(&missed, (double)queue.refused, METRIC_LABELS("queue_full"));
}
