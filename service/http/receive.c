#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "http/exchange.h"
#include "log/log.h"
#include "metrics/registry.h"
#include "threads/clock.h"

/*
 * The library (0.9.75) offers no place between the socket and its parser, and its parser hides what it
 * repairs. So the program defines recv() itself: the dynamic linker gives the library this one,
 * and what comes for a connection of ours is read by http/wire.c before the library sees it. Other
 * sockets of the process, libpq's above all, are passed through.
 */

METRIC_COUNTER(malformed,
               "provisor_http_malformed_total",
               "Connections ended with a 400 because what came is no HTTP/1.1 as RFC 9112 has it.",
               "");

/* By the number of the socket; a number is a client's from client_open to client_close. */
struct numbers {
    size_t n;
    _Atomic(struct client *) clients[];
};
static _Atomic(struct numbers *)
    numbers; /* lives as long as the process; others read sockets, too */

bool receive_init(void)
{
    struct rlimit limit;
    if (atomic_load(&numbers) != NULL)
        return true;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    const rlim_t most = 4u << 20;
    size_t n = (size_t)(limit.rlim_max < most ? limit.rlim_max : most);
    /* Pages are taken as they are used. */
    struct numbers *made = calloc(1, sizeof *made + n * sizeof *made->clients);
    if (made == NULL)
        return false;
    made->n = n;
    atomic_store(&numbers, made);
    return true;
}

void receive_set(int fd, struct client *client)
{
    struct numbers *all = atomic_load(&numbers);
    if (fd >= 0 && (size_t)fd < all->n)
        atomic_store(&all->clients[fd], client);
}

static struct client *client_at(int fd)
{
    struct numbers *all = atomic_load(&numbers);
    if (all == NULL || fd < 0 || (size_t)fd >= all->n)
        return NULL;
    return atomic_load(&all->clients[fd]);
}

static void log_malformed(struct client *client, const char *id)
{
    struct http_server *server = client->server;
    http_metrics_count(&server->metrics, NULL, HTTP_LABEL_OTHER, 400, 0);
    if (http_rate_take(&server->stranger_lines, clock_monotonic_ns()))
        LOG_EVENT(LOG_INFO, "http.request", id, LOG_TEXT("method", "other"),
                  LOG_TEXT("route", "unmatched"), LOG_COUNT("status", 400),
                  LOG_TEXT("detail", client->fault), LOG_TEXT("outcome", "answered"));
    else
        (void)atomic_fetch_add(&server->stranger_lines_cut, 1);
}

/* false: the sweeper or the request itself has answered already. */
static bool write_fault(struct client *client, const char *id)
{
    enum { LINGER_S = 5 };
    char body[512];
    int n = snprintf(body, sizeof body,
                     "{\"type\":\"/problems/malformed\",\"title\":\"the request is malformed\","
                     "\"status\":400,\"detail\":\"%s\",\"request_id\":\"%s\"}",
                     client->fault, id);
    const struct http_response response = {.status = 400,
                                           .content_type = "application/problem+json",
                                           .body = body,
                                           .body_n = (size_t)n};
    (void)pthread_mutex_lock(&client->lock);
    bool answered = client->deadline_ns == UINT64_MAX ||
                    (client->exchange != NULL && client->exchange->stage == STAGE_DRAINING);
    if (!answered) {
        client_restore_locked(client);
        client_write_raw(client->fd, &response, id);
        client->cut_status = 400;
        client->phase = CLIENT_REPLYING;
        client->deadline_ns = clock_monotonic_ns() + LINGER_S * UINT64_C(1000000000);
    }
    (void)pthread_mutex_unlock(&client->lock);
    return !answered;
}

void receive_answer_fault(struct client *client)
{
    char id[37];
    client->fault_waits = false;
    client->refused = true;
    clock_uuid7(id);
    if (!write_fault(client, id))
        return;
    metric_add(&malformed, 1, NULL);
    /* serve_completed logs a request whose header was whole. */
    if (client->exchange == NULL || client->exchange->stage == STAGE_HEADERS)
        log_malformed(client, id);
}

/* What still comes is dropped, so that the answer is not lost to a reset. */
static ssize_t drop_rest(int fd, void *buffer, size_t n)
{
    enum { AT_ONCE = 256 };
    ssize_t got = 1;
    for (int i = 0; i < AT_ONCE && got > 0; i++)
        got = recvfrom(fd, buffer, n, 0, NULL, NULL);
    if (got > 0) {
        errno = EAGAIN;
        return -1;
    }
    return got;
}

/*
 * A fault in a request behind others that are not answered yet waits for their answers: the library
 * gets what belongs to those.
 */
static ssize_t check_received(struct client *client, int fd, void *buffer, size_t n, size_t got)
{
    size_t good = 0;
    if (client->refused || client->fault_waits)
        return drop_rest(fd, buffer, n);
    client->fault = http_wire_read(&client->wire, buffer, got, &good);
    if (client->fault == NULL)
        return (ssize_t)got;
    if (good > 0) {
        client->fault_waits = true;
        return (ssize_t)good;
    }
    receive_answer_fault(client);
    return drop_rest(fd, buffer, n);
}

__attribute__((visibility("default"))) ssize_t recv(int fd, void *buffer, size_t n, int flags)
{
    ssize_t got = recvfrom(fd, buffer, n, flags, NULL, NULL);
    if (got <= 0 || (flags & MSG_PEEK) != 0)
        return got;
    struct client *client = client_at(fd);
    return client == NULL ? got : check_received(client, fd, buffer, n, (size_t)got);
}
