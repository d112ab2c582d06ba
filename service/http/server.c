#include "http/server.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/exchange.h"
#include "http/listen.h"
#include "log/log.h"
#include "threads/clock.h"

enum {
    CONNECTION_MEMORY = 32 * 1024, /* more buys little speed and multiplies by the connections */
    FIELD_OVERHEAD = 64,           /* what the library keeps beside each header field */
    HEALTH_QUEUE = 64
};

static void log_library(void *cls, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* The library's own words are about single connections: of use only to who looks for them. */
static void log_library(void *cls, const char *format, va_list args)
{
    char text[256];
    (void)cls;
    (void)vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    LOG_EVENT(LOG_DEBUG, "http.library", NULL, LOG_TEXT("detail", text));
}

/* Paths and queries stay as they were sent: http/target.c decodes them after splitting. */
static size_t leave_escaped(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

static size_t connection_memory(const struct config *config)
{
    size_t need = (size_t)config->header_bytes_max + (size_t)config->headers_max * FIELD_OVERHEAD +
                  CONNECTION_MEMORY / 4;
    return need > CONNECTION_MEMORY ? need : CONNECTION_MEMORY;
}

static struct MHD_Daemon *start_daemon(struct http_server *server)
{
    const struct config *config = server->config;
    unsigned threads = (unsigned)config->http_threads;
    const unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;
    return MHD_start_daemon(flags, server->port, NULL, NULL, serve_request, server, /* */
                            MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL, /* comes first */
                            MHD_OPTION_LISTEN_SOCKET, server->listen_fd,   /* */
                            MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0,         /* */
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)config->connections_max, /* */
                            MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)config->connection_idle_s,                           /* */
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory(config), /* */
                            MHD_OPTION_STRICT_FOR_CLIENT, 1,                               /* */
                            MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,             /* */
                            MHD_OPTION_URI_LOG_CALLBACK, serve_request_line, server,       /* */
                            MHD_OPTION_NOTIFY_COMPLETED, serve_completed, server,          /* */
                            MHD_OPTION_NOTIFY_CONNECTION, client_notify, server,           /* */
                            MHD_OPTION_END);
}

static enum pv_code start_workers(struct http_server *server, struct pv_error *err)
{
    const struct config *config = server->config;
    const struct workers_settings io = {.threads = (size_t)config->io_workers,
                                        .spare_threads = (size_t)config->spare_workers,
                                        .queue_max = (size_t)config->io_queue,
                                        .wait_max_ns = (uint64_t)config->io_wait_ms * 1000000u};
    const struct workers_settings compute = {.threads = (size_t)config->compute_workers,
                                             .spare_threads = (size_t)config->spare_workers,
                                             .queue_max = (size_t)config->compute_queue,
                                             .wait_max_ns =
                                                 (uint64_t)config->compute_wait_ms * 1000000u};
    const struct workers_settings health = {.threads = 1, .queue_max = HEALTH_QUEUE};
    server->io = workers_create("io", &io);
    server->compute = workers_create("compute", &compute);
    server->health = workers_create("health", &health);
    server->tokens = token_cache_create((uint64_t)config->token_cache_ms * 1000000u);
    if (server->io == NULL || server->compute == NULL || server->health == NULL ||
        server->tokens == NULL)
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
    PV_TRY(listen_open(config->listen_address, (uint16_t)config->listen_port, &server->listen_fd,
                       &server->port, err));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, server->silence) != 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "cannot make a pair of sockets");
    if (pthread_create(&server->sweeper, NULL, sweep_run, server) != 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "cannot start a thread");
    server->sweeping = true;
    server->daemon = start_daemon(server);
    if (server->daemon == NULL)
        return pv_fail(err, PV_E_UNAVAILABLE, "cannot serve on %s port %u", config->listen_address,
                       (unsigned)server->port);
    return PV_OK;
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
    s->listen_fd = -1;
    s->silence[0] = s->silence[1] = -1;
    (void)pthread_mutex_init(&s->clients_lock, NULL);
    http_memory_init(&s->memory, (size_t)s->config->memory_bytes_max);

    enum pv_code code = start_routes(s, err);
    if (code == PV_OK)
        code = start_workers(s, err);
    if (code == PV_OK)
        code = start_listening(s, err);
    if (code != PV_OK) {
        http_server_close(s);
        return code;
    }
    LOG_EVENT(LOG_INFO, "http.listening", NULL, LOG_TEXT("address", s->config->listen_address),
              LOG_COUNT("port", s->port));
    *server = s;
    return PV_OK;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
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
 * Nobody is let in any more. MHD_quiesce_daemon (0.9.75) would do it, but it and the library's own
 * threads both take the socket out of their epoll sets and end the process when the other was
 * first. So the library is left its number, and what stands behind it is closed in two steps: shut
 * down, so that accept() refuses and a thread that has just got as many connections as it may
 * leaves the socket alone; then a socket in its place where nothing ever comes, or the threads
 * would be woken all the time. The kernel forgets the old one in every epoll set with its last
 * number.
 */
static void stop_listening(struct http_server *server)
{
    enum { LAST_ACCEPTS_MS = 20 };
    if (server->daemon == NULL || server->deaf)
        return;
    server->deaf = true;
    (void)shutdown(server->listen_fd, SHUT_RDWR);
    clock_sleep_ms(LAST_ACCEPTS_MS);
    (void)dup2(server->silence[0], server->listen_fd);
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
    stop_listening(server);
    bool done = wait_for_none(&server->metrics.in_flight,
                              now_ns + (uint64_t)server->config->drain_s * 1000000000u);
    resume_all(server);
    if (!done)
        (void)wait_for_none(&server->metrics.in_flight,
                            clock_monotonic_ns() + (uint64_t)LAST_REPLIES_MS * 1000000u);
    LOG_EVENT(LOG_INFO, "http.drained", NULL, LOG_COUNT("cut", done ? 0 : 1));
}

static void stop_daemon(struct http_server *server)
{
    if (server->daemon == NULL)
        return;
    atomic_store(&server->draining, true);
    stop_listening(server);
    resume_all(server);
    MHD_stop_daemon(server->daemon);
    server->daemon = NULL;
    server->listen_fd = -1; /* closed by the library */
}

static void end_orphans(struct http_server *server)
{
    while (server->orphans != NULL) {
        struct exchange *x = server->orphans;
        server->orphans = x->next_orphan;
        exchange_release(x, true);
    }
}

void http_server_close(struct http_server *server)
{
    if (server == NULL)
        return;
    stop_daemon(server);
    atomic_store(&server->sweeper_stop, true);
    if (server->sweeping)
        (void)pthread_join(server->sweeper, NULL);
    if (server->listen_fd >= 0)
        (void)close(server->listen_fd);
    for (int i = 0; i < 2; i++)
        if (server->silence[i] >= 0)
            (void)close(server->silence[i]);
    workers_destroy(server->io);
    workers_destroy(server->compute);
    workers_destroy(server->health);
    end_orphans(server);
    token_cache_destroy(server->tokens);
    http_costs_fini(&server->costs);
    http_memory_fini(&server->memory);
    http_metrics_fini(&server->metrics);
    http_router_fini(&server->router);
    (void)pthread_mutex_destroy(&server->clients_lock);
    free(server);
}
