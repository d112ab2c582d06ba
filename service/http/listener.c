#define _GNU_SOURCE /* struct tcp_info */
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/listen.h"
#include "http/state.h"
#include "log/log.h"
#include "threads/clock.h"

enum {
    CONNECTION_MEMORY = 32 * 1024, /* more buys little speed and multiplies by the connections */
    FIELD_OVERHEAD = 64            /* what the library keeps beside each header field */
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

static struct MHD_Daemon *start_daemon(struct http_listener *listener)
{
    const struct config *config = listener->server->config;
    unsigned threads = listener->for_health ? 1 : (unsigned)config->http_threads;
    const unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;
    return MHD_start_daemon(flags, listener->port, NULL, NULL, serve_request, NULL, /* */
                            MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL, /* comes first */
                            MHD_OPTION_LISTEN_SOCKET, listener->fd,        /* */
                            MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0,           /* */
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)listener->connections_max, /* */
                            MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)config->connection_idle_s,                           /* */
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory(config), /* */
                            MHD_OPTION_STRICT_FOR_CLIENT, 1,                               /* */
                            MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,             /* */
                            MHD_OPTION_URI_LOG_CALLBACK, serve_request_line, NULL,         /* */
                            MHD_OPTION_NOTIFY_COMPLETED, serve_completed, NULL,            /* */
                            MHD_OPTION_NOTIFY_CONNECTION, client_notify, listener,         /* */
                            MHD_OPTION_END);
}

/*
 * A sixteenth of the places is for who comes when all others are taken: half of it for anybody, half
 * for teams within their share, who give up theirs for others when but a quarter is left.
 */
static void set_limits(struct http_listener *listener, long connections_max)
{
    enum { PART = 16, MOST = 256 };
    long reserve = (connections_max + PART - 1) / PART;
    if (reserve > MOST)
        reserve = MOST;
    if (reserve >= connections_max)
        reserve = 0;
    long last = reserve < 8 ? reserve > 0 : reserve / 4;
    listener->connections_max = connections_max;
    listener->crowded = connections_max - reserve;
    listener->beyond_max = connections_max - reserve / 2;
    listener->within_max = connections_max - last;
}

void listener_init(struct http_listener *listener,
                   struct http_server *server,
                   int64_t connections_max)
{
    *listener = (struct http_listener){.server = server, .fd = -1};
    set_limits(listener, (long)connections_max);
}

enum pv_code listener_start(struct http_listener *listener,
                            const char *address,
                            int64_t port,
                            struct pv_error *err)
{
    PV_TRY(listen_open(address, (uint16_t)port, &listener->fd, &listener->port, err));
    listener->daemon = start_daemon(listener);
    if (listener->daemon == NULL)
        return pv_fail(err, PV_E_UNAVAILABLE, "cannot serve on %s port %u", address,
                       (unsigned)listener->port);
    LOG_EVENT(LOG_INFO, "http.listening", NULL, LOG_TEXT("address", address),
              LOG_COUNT("port", listener->port),
              LOG_TEXT("for", listener->for_health ? "health" : "all"));
    return PV_OK;
}

/* Connections that the kernel has made and nobody has taken yet. */
static bool backlog_is_empty(int fd)
{
    struct tcp_info info = {.tcpi_unacked = 0};
    socklen_t n = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) != 0 || info.tcpi_unacked == 0;
}

/* Whoever has come so far is taken, so that closing resets none of them. */
static void take_backlog(const struct http_listener *listener)
{
    enum { MOST_MS = 500 };
    for (int ms = 0; ms < MOST_MS && !backlog_is_empty(listener->fd); ms++)
        clock_sleep_ms(1);
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
void listener_close(struct http_listener *listener)
{
    enum { LAST_ACCEPTS_MS = 20 };
    if (listener->daemon == NULL || listener->deaf)
        return;
    listener->deaf = true;
    take_backlog(listener);
    (void)shutdown(listener->fd, SHUT_RDWR);
    clock_sleep_ms(LAST_ACCEPTS_MS);
    (void)dup2(listener->server->silence[0], listener->fd);
}

void listener_stop(struct http_listener *listener)
{
    if (listener->daemon != NULL)
        MHD_stop_daemon(listener->daemon); /* closes the socket */
    else if (listener->fd >= 0)
        (void)close(listener->fd);
    listener->daemon = NULL;
    listener->fd = -1;
}
