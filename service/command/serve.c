#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#include "api/access/authenticate.h"
#include "api/advice/prediction_cache.h"
#include "api/api.h"
#include "api/models/fitter.h"
#include "api/operations/operation_document.h"
#include "api/operations/operation_kinds.h"
#include "api/operations/operation_watch.h"
#include "command/args.h"
#include "command/clock_skew.h"
#include "command/command.h"
#include "command/quotas.h"
#include "dispatch/sender.h"
#include "http/server.h"
#include "ingest/spool.h"
#include "log/log.h"
#include "maintenance/maintenance_thread.h"
#include "metrics/registry.h"
#include "operation/runner.h"
#include "resources/resources.h"
#include "store/store.h"
#include "threads/clock.h"
#include "threads/cond.h"
#include "webhooks/dispatcher.h"

/*
 * The service. Start-up order is read off command_serve, shutdown is its reverse. PostgreSQL may be
 * down at any time: migrations are tried again until they are applied, and /readyz says what is
 * missing.
 */
enum {
    MIGRATE_AGAIN_MS = 200,  /* while PostgreSQL is down */
    MIGRATE_LATER_MS = 5000, /* when it refuses */
    MIGRATION_END_S = 5,     /* for a migration under way */
    FITTER_END_S = 2,        /* beyond the drain, for a fit under way */
    LOG_END_S = 1,           /* for whoever reads the log */
    RUNNER_END_S = 2,        /* likewise, for long work that was asked to stop */
    DISPATCHER_END_S = 2     /* likewise, for attempts under way */
};

METRIC_GAUGE(connections,
             "provisor_database_connections",
             "Connections to PostgreSQL by state: in_use or idle.",
             "state");
METRIC_GAUGE(connection_waiters,
             "provisor_database_waiting",
             "Threads that wait for a connection to PostgreSQL.",
             "");
METRIC_COUNTER(connects,
               "provisor_database_connects_total",
               "Attempts to connect to PostgreSQL, by outcome: ok or failed.",
               "outcome");
METRIC_COUNTER(
    migration_retries,
    "provisor_migration_retries_total",
    "Migrations that let go of a lock that was not free, or found another process migrating, "
    "to be tried again.",
    "");
METRIC_COUNTER(log_lines_dropped,
               "provisor_log_lines_dropped_total",
               "Log lines dropped because whoever reads the log was too slow.",
               "");

struct migrator {
    struct store_migrate_options options;
    atomic_bool done;
    pthread_mutex_t lock;
    pthread_cond_t stop_asked;
    bool stop;
    pthread_t thread;
    bool started;
};

struct service {
    struct config config;
    struct store *store;
    struct prediction_cache *history;
    struct resources resources;
    struct api api;
    struct migrator migrator;
    struct clock_skew clock_skew;
    struct http_server *server;
    struct maintenance_thread *maintenance;
    struct dispatcher *dispatcher; /* NULL: others deliver to webhooks */
};

/* --- migrations while the server runs --- */

/* Sleeps; false when the service is ending. */
static bool wait_before_next(struct migrator *migrator, long ms)
{
    uint64_t until_ns = clock_monotonic_ns() + (uint64_t)ms * 1000000;
    pthread_mutex_lock(&migrator->lock);
    while (!migrator->stop && cond_wait_until(&migrator->stop_asked, &migrator->lock, until_ns))
        ;
    bool go_on = !migrator->stop;
    pthread_mutex_unlock(&migrator->lock);
    return go_on;
}

/* A migration waits for others. */
static bool pause_migration(void *context, long ms)
{
    metric_add(&migration_retries, 1, NULL);
    return wait_before_next(context, ms);
}

static void *serve_migrate(void *argument)
{
    struct migrator *migrator = argument;
    char logged[sizeof((struct pv_error *)0)->detail] = "";
    for (;;) {
        struct pv_error err = {.code = PV_OK};
        unsigned applied = 0;
        enum pv_code code = store_migrate(&migrator->options, &applied, &err);
        if (code == PV_OK) {
            LOG_EVENT(LOG_INFO, "migrations.applied", NULL, LOG_COUNT("count", applied));
            atomic_store(&migrator->done, true);
            return NULL;
        }
        if (strcmp(logged, err.detail) != 0) /* the same reason is logged once */
            LOG_EVENT(LOG_WARN, "migrations.waiting", NULL, LOG_TEXT("reason", err.detail));
        memcpy(logged, err.detail, sizeof logged);
        long ms = code == PV_E_UNAVAILABLE ? MIGRATE_AGAIN_MS : MIGRATE_LATER_MS;
        if (!wait_before_next(migrator, ms))
            return NULL;
    }
}

static void init_migrator(struct migrator *migrator, const struct config *config)
{
    migrator->options = args_migrate_options(config);
    migrator->options.pause = pause_migration;
    migrator->options.context = migrator;
    pthread_mutex_init(&migrator->lock, NULL);
    (void)cond_init(&migrator->stop_asked);
    atomic_init(&migrator->done, !config->migrate_on_start);
}

static bool start_migrator(struct migrator *migrator)
{
    if (atomic_load(&migrator->done))
        return true;
    migrator->started = pthread_create(&migrator->thread, NULL, serve_migrate, migrator) == 0;
    return migrator->started;
}

/* A migration that runs now is given a moment; one that hangs does not hold up the end. */
static void stop_migrator(struct migrator *migrator)
{
    if (!migrator->started)
        return;
    pthread_mutex_lock(&migrator->lock);
    migrator->stop = true;
    pthread_cond_signal(&migrator->stop_asked);
    pthread_mutex_unlock(&migrator->lock);
    uint64_t until_ns = clock_monotonic_ns() + MIGRATION_END_S * UINT64_C(1000000000);
    if (!thread_join_until(migrator->thread, until_ns))
        LOG_EVENT(LOG_WARN, "migrations.abandoned", NULL);
}

/* --- what the server asks of us --- */

static enum pv_code is_ready(void *context, struct http_readiness *seen, struct pv_error *err)
{
    struct service *service = context;
    struct store_clock clock;
    if (!atomic_load(&service->migrator.done))
        return pv_fail(err, PV_E_UNAVAILABLE, "the database's migrations are not applied yet");
    PV_TRY(store_ready(service->store, &clock, err));
    clock_skew_note(&service->clock_skew, &clock);
    seen->clock_skew_known = clock_skew_read(&service->clock_skew, &seen->clock_skew_s);
    return PV_OK;
}

static void collect_metrics(void *context)
{
    struct service *service = context;
    struct store_statistics now = store_statistics(service->store);
    metric_set(&connections, now.connections_in_use, METRIC_LABELS("in_use"));
    metric_set(&connections, now.connections_idle, METRIC_LABELS("idle"));
    metric_set(&connection_waiters, now.waiting, NULL);
    metric_set(&connects, (double)now.connects, METRIC_LABELS("ok"));
    metric_set(&connects, (double)now.connect_failures, METRIC_LABELS("failed"));
    metric_set(&log_lines_dropped, (double)log_dropped(), NULL);
    fitter_collect_metrics(&service->api);
    operation_watch_collect_metrics(service->api.watch);
    prediction_cache_collect_metrics(service->api.history);
}

/* What the maintenance removes counts as a change like any other. */
static void history_changed(void *context, const char *team_id, const char *application)
{
    api_history_changed(context, team_id, application);
}

/* --- the process --- */

/* Ended by signals that one thread takes in turn (docs/design.md, "Process"). */
static void block_signals(sigset_t *ending)
{
    sigemptyset(ending);
    sigaddset(ending, SIGTERM);
    sigaddset(ending, SIGINT);
    pthread_sigmask(SIG_BLOCK, ending, NULL);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
}

/* From here on a second signal ends the process at once. */
static void await_end(const sigset_t *ending)
{
    int signal_number = 0;
    while (sigwait(ending, &signal_number) != 0)
        ;
    LOG_EVENT(LOG_INFO, "service.draining", NULL, LOG_COUNT("signal", signal_number));
    pthread_sigmask(SIG_UNBLOCK, ending, NULL);
}

/* As many open files as connections need, where the system allows it. */
static void raise_open_files(const struct config *config)
{
    enum { OTHER_FILES = 256 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    rlim_t wanted = (rlim_t)(config->connections_max + config->health_connections_max +
                             config->database_connections) +
                    OTHER_FILES;
    if (limit.rlim_cur >= wanted)
        return;
    bool short_of = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < wanted;
    limit.rlim_cur = short_of ? limit.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || short_of)
        LOG_EVENT(LOG_WARN, "service.few_open_files", NULL, LOG_COUNT("wanted", wanted),
                  LOG_COUNT("allowed", limit.rlim_cur));
}

/* What may all want a connection at once; with fewer some wait database_wait_ms for one. An import
 * holds its own also while no thread has it. */
static void check_connections(const struct config *config)
{
    enum {
        BACKGROUND_THREADS = 6
    }; /* heart beat, watch of operations, fitter, housekeeping, tokens, dispatcher */
    int64_t wanted = config->io_workers + config->spare_workers + config->light_workers +
                     config->imports_max + config->operation_workers + BACKGROUND_THREADS;
    if (config->database_connections < wanted)
        LOG_EVENT(LOG_WARN, "service.few_database_connections", NULL,
                  LOG_COUNT("database_connections", config->database_connections),
                  LOG_COUNT("wanted", wanted));
}

/* An operator shall hear of it before the first archive does. */
static void try_spool(const struct config *config)
{
    struct spool_place place;
    struct spool *spool = NULL;
    struct pv_error err;
    pv_error_clear(&err);
    spool_place_init(&place, config, NULL);
    if (spool_open(&place, &spool, &err) != PV_OK)
        LOG_EVENT(LOG_WARN, "spool.unusable", NULL, LOG_TEXT("reason", err.detail));
    spool_close(spool);
}

/*
 * Threads that wait for PostgreSQL allocate little: they share heaps, which keeps the process
 * small. Large blocks go back to the system when they are freed: left to itself, the library raises
 * its bound to 32 MB and keeps them.
 */
static void bound_heaps(const struct config *config)
{
    enum { LARGE_BYTES = 4 << 20 };
    (void)mallopt(M_ARENA_MAX, (int)(4 + config->compute_workers));
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * LARGE_BYTES);
}

static enum pv_code start_runner(struct service *service, struct pv_error *err)
{
    const struct operation_runner_options options = {.config = &service->config,
                                                     .resources = &service->resources,
                                                     .store = service->store,
                                                     .kinds = api_operation_kinds,
                                                     .context = &service->api,
                                                     .describe = operation_describe_error};
    service->api.watch =
        operation_watch_create(service->store, &service->resources, &service->config);
    if (service->api.watch == NULL)
        return pv_fail(err, PV_E_UNAVAILABLE, "no memory or thread to watch long work");
    return operation_runner_create(&options, &service->api.operations, err);
}

static enum pv_code open_service(struct service *service, struct pv_error *err)
{
    const struct config *config = &service->config;
    struct store_options options = {.conninfo = config->database_url,
                                    .connections_max = (unsigned)config->database_connections,
                                    .wait_ms = (unsigned)config->database_wait_ms,
                                    .statement_timeout_ms = (unsigned)config->statement_timeout_ms};
    quotas_of_config(config, options.quotas);
    PV_TRY(store_open(&options, &service->store, err));
    service->history = prediction_cache_create((size_t)config->prediction_cache_entries,
                                               config->prediction_cache_ms);
    if (service->history == NULL)
        return pv_no_memory(err);
    PV_TRY(api_init(&service->api, config, service->store, service->history, err));
    resources_init(&service->resources, config);
    service->api.resources = &service->resources;
    try_spool(config);
    if (config->webhook_delivery) /* before other threads use the store: it hears of their events */
        PV_TRY(dispatcher_create(service->store, config, &service->dispatcher, err));
    PV_TRY(fitter_start(&service->api, &service->api.fitter, err));
    PV_TRY(start_runner(service, err));
    service->maintenance =
        maintenance_thread_create(service->store, config,
                                  (struct maintenance_listener){.history_changed = history_changed,
                                                                .context = &service->api});
    if (service->maintenance == NULL)
        return pv_fail(err, PV_E_UNAVAILABLE, "no memory or thread for the housekeeping");
    struct http_server_options server = {.config = config,
                                         .resources = &service->resources,
                                         .routes = api_routes,
                                         .reply_members = api_reply_members,
                                         .context = &service->api,
                                         .authenticate = api_authenticate,
                                         .recognize = api_recognize_token,
                                         .owner = service,
                                         .ready = is_ready,
                                         .collect_metrics = collect_metrics};
    clock_skew_init(&service->clock_skew, config->clock_skew_warn_ms * 1000);
    init_migrator(&service->migrator, config); /* the server asks it whether it is ready */
    PV_TRY(http_server_open(&server, &service->server, err));
    if (!start_migrator(&service->migrator))
        return pv_fail(err, PV_E_UNAVAILABLE, "no thread for the migrations");
    return PV_OK;
}

static void close_service(struct service *service)
{
    if (service->store == NULL)
        return;
    fitter_ask_end(service->api.fitter); /* it has the time of the drain to finish a fit */
    operation_runner_ask_end(service->api.operations); /* others go on with what it gives back */
    dispatcher_ask_end(service->dispatcher);
    operation_watch_close(service->api.watch); /* streams would last as long as the drain may */
    if (service->server != NULL)
        http_server_drain(service->server);
    operation_watch_stop(service->api.watch);
    http_server_close(service->server);
    stop_migrator(&service->migrator);
    maintenance_thread_destroy(service->maintenance);
    if (!fitter_join(service->api.fitter, FITTER_END_S)) {
        LOG_EVENT(LOG_WARN, "fitter.abandoned", NULL); /* the process ends under it */
        return;
    }
    if (!operation_runner_join(service->api.operations, RUNNER_END_S)) {
        LOG_EVENT(LOG_WARN, "operations.abandoned", NULL);
        return;
    }
    dispatcher_destroy(service->dispatcher, DISPATCHER_END_S);
    operation_watch_destroy(service->api.watch);
    api_fini(&service->api);
    resources_fini(&service->resources);
    prediction_cache_destroy(service->history);
    store_close(service->store);
}

int command_serve(int argc, char *argv[])
{
    static struct service service;
    struct arg_option options[] = {{.name = NULL}};
    size_t n;
    if (!args_read(argc, argv, options, NULL, 0, &n, &service.config))
        return COMMAND_USAGE;
    sigset_t ending;
    block_signals(&ending);
    if (!sender_init_library())
        return COMMAND_FAILED;
    (void)log_start();
    raise_open_files(&service.config);
    check_connections(&service.config);
    bound_heaps(&service.config);

    struct pv_error err = {.code = PV_OK};
    enum pv_code code = open_service(&service, &err);
    if (code == PV_OK)
        await_end(&ending);
    else
        LOG_EVENT(LOG_ERROR, "service.not_started", NULL, LOG_TEXT("reason", err.detail));
    close_service(&service);
    LOG_EVENT(LOG_INFO, "service.ended", NULL);
    log_stop(LOG_END_S);
    return code == PV_OK ? COMMAND_DONE : COMMAND_FAILED;
}
