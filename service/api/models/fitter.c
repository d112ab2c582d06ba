#define _GNU_SOURCE /* gettid, pthread_setname_np */
#include "api/models/fitter.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/models/application_models.h"
#include "api/models/fit_queue.h"
#include "log/log.h"
#include "threads/clock.h"
#include "threads/cond.h"

/* Requests come first: about a tenth of the weight of a thread that serves them. */
enum { NICENESS = 10 };

struct fitter {
    struct api *api;
    struct fit_queue *queue;
    pthread_t thread;
};

/* Linux keeps a niceness for each thread, POSIX one for the process. */
static void yield_to_requests(void)
{
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
}

static void count(struct api *api, enum pv_code code, bool fitted)
{
    struct fit_counts *counts = &api->fits;
    if (code == PV_OK && fitted)
        atomic_fetch_add(&counts->on_arrival, 1);
    else if (code == PV_OK)
        atomic_fetch_add(&counts->found_current, 1);
    else if (code != PV_E_NOT_FOUND) /* removed meanwhile */
        atomic_fetch_add(&counts->failed, 1);
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
    count(api, code, fitted);
    if (code != PV_OK && code != PV_E_NOT_FOUND)
        LOG_EVENT(LOG_WARN, "fitter.failed", NULL, LOG_TEXT("code", pv_code_name(code)),
                  LOG_TEXT("reason", err.detail));
}

static void *serve(void *argument)
{
    struct fitter *fitter = argument;
    struct fit_key key;
    yield_to_requests();
    while (fit_queue_take(fitter->queue, &key)) {
        uint64_t began = clock_monotonic_ns();
        fit_one(fitter->api, &key);
        fit_queue_done(fitter->queue);
        uint64_t took = clock_monotonic_ns() - began;
        atomic_fetch_add(&fitter->api->fits.ns, took);
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
    bool started = pthread_create(&fitter->thread, NULL, serve, fitter) == 0;
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

void fitter_tell(struct fitter *fitter, const char *team_id, const char *application)
{
    if (fitter != NULL)
        (void)fit_queue_add(fitter->queue, team_id, application);
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

const char *fitter_write_metrics(struct api *api, struct arena *arena)
{
    struct fit_queue_statistics queue = {.waiting = 0};
    struct fit_counts *counts = &api->fits;
    if (api->fitter != NULL)
        queue = fit_queue_statistics(api->fitter->queue);
    return arena_printf(
        arena,
        "# HELP provisor_fits_waiting Applications whose models wait to be fitted.\n"
        "# TYPE provisor_fits_waiting gauge\n"
        "provisor_fits_waiting %zu\n"
        "# HELP provisor_fits_running Applications whose models are being fitted on arrival.\n"
        "# TYPE provisor_fits_running gauge\n"
        "provisor_fits_running %zu\n"
        "# HELP provisor_fits_total Fits of histories, by what they were made for.\n"
        "# TYPE provisor_fits_total counter\n"
        "provisor_fits_total{for=\"arrival\"} %" PRIu64 "\n"
        "provisor_fits_total{for=\"reader\"} %" PRIu64 "\n"
        "# HELP provisor_fits_spared_total Changes of a history that cost no fit: others were"
        " waiting already (merged), or somebody else had fitted (current).\n"
        "# TYPE provisor_fits_spared_total counter\n"
        "provisor_fits_spared_total{why=\"merged\"} %" PRIu64 "\n"
        "provisor_fits_spared_total{why=\"current\"} %" PRIu64 "\n"
        "# HELP provisor_fits_missed_total Changes left to the first reader: the queue was full, or"
        " the fit failed.\n"
        "# TYPE provisor_fits_missed_total counter\n"
        "provisor_fits_missed_total{why=\"full\"} %" PRIu64 "\n"
        "provisor_fits_missed_total{why=\"failed\"} %" PRIu64 "\n"
        "# HELP provisor_fit_seconds_total Time of the fits on arrival, with the database's.\n"
        "# TYPE provisor_fit_seconds_total counter\n"
        "provisor_fit_seconds_total %.6f\n",
        queue.waiting, queue.running, (uint64_t)atomic_load(&counts->on_arrival),
        (uint64_t)atomic_load(&counts->by_reader), queue.merged,
        (uint64_t)atomic_load(&counts->found_current), queue.refused,
        (uint64_t)atomic_load(&counts->failed), (double)atomic_load(&counts->ns) * 1e-9);
}
