#define _GNU_SOURCE /* pthread_setname_np */
#include "http/server.h"

#include <sodium.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/exchange.h"
#include "log/log.h"
#include "threads/clock.h"
#include "threads/cond.h"

enum { HEALTH_QUEUE = 64 };

static enum pv_code start_workers(struct http_server *server, struct pv_error *err)
{
    const struct config *config = server->config;
    const struct workers_settings io = {.threads = (size_t)config->io_workers,
                                        .spare_threads = (size_t)config->spare_workers,
                                        .light_threads = (size_t)config->light_workers,
                                        .queue_max = (size_t)config->io_queue,
                                        .niceness = (int)config->worker_niceness,
                                        .burst_ns = (uint64_t)config->worker_burst_ms * 1000000u,
                                        .wait_max_ns = (uint64_t)config->io_wait_ms * 1000000u,
                                        .duty = DUTY_WAIT};
    const struct workers_settings compute = {
        .threads = (size_t)config->compute_workers,
        .spare_threads = (size_t)config->spare_workers,
        .light_threads = (size_t)config->light_workers,
        .queue_max = (size_t)config->compute_queue,
        .niceness = (int)config->worker_niceness,
        .burst_ns = (uint64_t)config->worker_burst_ms * 1000000u,
        .wait_max_ns = (uint64_t)config->compute_wait_ms * 1000000u,
        .duty = DUTY_COMPUTE};
    const struct workers_settings single = {.threads = 1, .queue_max = HEALTH_QUEUE};
    duty_set_light((size_t)config->inline_body_bytes);
    server->io = workers_create("io", &io);
    server->compute = workers_create("compute", &compute);
    server->renewals = workers_create("tokens", &single);
    server->exposition = workers_create("metrics", &single);
    server->listener.readiness = workers_create("readiness", &single);
    server->health.readiness = workers_create("health", &single);
    server->tokens = token_cache_create((uint64_t)config->token_cache_ms * 1000000u,
                                        (uint64_t)config->token_refusal_cache_ms * 1000000u);
    http_rate_init(&server->lookups, config->token_lookups_per_s);
    http_rate_init(&server->stranger_lines, config->log_unauthenticated_per_s);
    if (server->io == NULL || server->compute == NULL || server->renewals == NULL ||
        server->exposition == NULL || server->listener.readiness == NULL ||
        server->health.readiness == NULL || server->tokens == NULL)
        return pv_fail(err, PV_E_MEMORY, "cannot start the workers");
    return PV_OK;
}

static enum pv_code start_routes(struct http_server *server, struct pv_error *err)
{
    const struct http_route *const tables[] = {health_routes, server->options.routes};
    PV_TRY(http_router_init(&server->router, tables, 2, err));
    if (!http_metrics_init(&server->metrics, &server->router, clock_wall_us()) ||
        !http_costs_init(&server->costs, &server->router))
        return pv_no_memory(err);
    return PV_OK;
}

static enum pv_code start_listening(struct http_server *server, struct pv_error *err)
{
    const struct config *config = server->config;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, server->silence) != 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "cannot make a pair of sockets");
    if (pthread_create(&server->sweeper, NULL, sweep_run, server) != 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "cannot start a thread");
    (void)pthread_setname_np(server->sweeper, "sweeper");
    server->sweeping = true;
    if (config->health_port != 0)
        PV_TRY(listener_start(&server->health, config->health_address, config->health_port, err));
    return listener_start(&server->listener, config->listen_address, config->listen_port, err);
}

enum pv_code http_server_open(const struct http_server_options *options,
                              struct http_server **server,
                              struct pv_error *err)
{
    if (sodium_init() < 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "the system has no random numbers");
    struct http_server *s = calloc(1, sizeof *s);
    if (s == NULL)
        return pv_no_memory(err);
    s->options = *options;
    s->config = options->config;
    listener_init(&s->listener, s, s->config->connections_max);
    listener_init(&s->health, s, s->config->health_connections_max);
    s->health.for_health = true;
    s->silence[0] = s->silence[1] = -1;
    (void)pthread_mutex_init(&s->clients_lock, NULL);
    (void)pthread_mutex_init(&s->spare_lock, NULL);
    (void)pthread_mutex_init(&s->sweeper_lock, NULL);
    (void)cond_init(&s->sweeper_wanted);
    arena_init(&s->metrics_arena, 0);

    enum pv_code code = receive_init() ? start_routes(s, err) : pv_no_memory(err);
    if (code == PV_OK)
        code = start_workers(s, err);
    if (code == PV_OK)
        code = start_listening(s, err);
    if (code != PV_OK) {
        http_server_close(s);
        return code;
    }
    *server = s;
    return PV_OK;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->listener.port;
}

/* Waits until nothing is counted any more; false: the time is over. */
static bool wait_for_none(const atomic_long *count, uint64_t deadline_ns)
{
    while (atomic_load(count) > 0) {
        if (clock_monotonic_ns() >= deadline_ns)
            return false;
        clock_sleep_ms(5);
    }
    return true;
}

/*
 * From here nothing is suspended: a thread that wants to counts itself first and looks at
 * `stopping` afterwards, so either it sees the flag or this wait sees the count. The sweeper takes
 * back what is with workers.
 */
static void resume_all(struct http_server *server)
{
    atomic_store(&server->stopping, true);
    while (atomic_load(&server->suspended) > 0)
        clock_sleep_ms(2);
}

void http_server_drain(struct http_server *server)
{
    enum { LAST_REPLIES_MS = 1000 };
    atomic_store(&server->draining, true);
    clock_sleep_ms((long)server->config->drain_delay_ms);
    uint64_t now_ns = clock_monotonic_ns();
    listener_close(&server->listener);
    bool done = wait_for_none(&server->metrics.in_flight,
                              now_ns + (uint64_t)server->config->drain_s * 1000000000u);
    resume_all(server);
    if (!done)
        (void)wait_for_none(&server->metrics.in_flight,
                            clock_monotonic_ns() + (uint64_t)LAST_REPLIES_MS * 1000000u);
    LOG_EVENT(LOG_INFO, "http.drained", NULL, LOG_COUNT("cut", done ? 0 : 1));
}

static void stop_listeners(struct http_server *server)
{
    atomic_store(&server->draining, true);
    listener_close(&server->listener);
    listener_close(&server->health);
    resume_all(server);
    listener_stop(&server->listener);
    listener_stop(&server->health);
}

static void end_orphans(struct http_server *server)
{
    while (server->orphans != NULL) {
        struct exchange *x = server->orphans;
        server->orphans = x->next_ended;
        exchange_release(x, true);
    }
}

void http_server_close(struct http_server *server)
{
    if (server == NULL)
        return;
    stop_listeners(server);
    sweep_call(server, true);
    if (server->sweeping)
        (void)pthread_join(server->sweeper, NULL);
    serve_report_cut_lines(server);
    for (int i = 0; i < 2; i++)
        if (server->silence[i] >= 0)
            (void)close(server->silence[i]);
    /* Each hands requests to the other until both stand still. */
    workers_stop(server->io);
    workers_stop(server->compute);
    workers_destroy(server->io);
    workers_destroy(server->compute);
    workers_destroy(server->renewals);
    workers_destroy(server->listener.readiness);
    workers_destroy(server->health.readiness);
    workers_destroy(server->exposition);
    arena_fini(&server->metrics_arena);
    end_orphans(server);
    exchange_free_spare(server);
    token_cache_destroy(server->tokens);
    http_costs_fini(&server->costs);
    http_metrics_fini(&server->metrics);
    http_router_fini(&server->router);
    (void)pthread_mutex_destroy(&server->clients_lock);
    (void)pthread_mutex_destroy(&server->spare_lock);
    (void)pthread_mutex_destroy(&server->sweeper_lock);
    (void)pthread_cond_destroy(&server->sweeper_wanted);
    free(server);
}
