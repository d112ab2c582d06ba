#include "http/exchange.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "http/process.h"
#include "metrics/registry.h"
#include "threads/clock.h"
#include "threads/cond.h"

/*
 * The clock of the server. The library's own time-out counts from the last byte, so a client that
 * sends one byte a second keeps its connection for ever, and a suspended connection has none at
 * all. This thread looks at every connection a few times in the shortest time allowed.
 */

enum {
    BATCH = 64,
    ROOM_PAUSE_MS = 20, /* while idle connections are wanted and there are none */
    LEAST_PAUSE_MS = 2  /* when called, for those who come in a crowd */
};

METRIC_COUNTER(timeouts,
               "provisor_http_timeouts_total",
               "Requests whose time was over: answered 503 or 408, or cut.",
               "");

METRIC_COUNTER(slow_uploads,
               "provisor_http_slow_uploads_total",
               "Uploads answered 408 because they came at less than upload_bytes_per_s_min.",
               "");

/* Connections taken back from workers in one pass; resumed outside all locks. */
struct expired {
    struct client *clients[BATCH];
    bool body_goes_on[BATCH];
    size_t n;
};

void sweep_cut(struct client *client)
{
    client_restore_locked(client);
    (void)shutdown(client->fd, SHUT_RDWR);
    client->deadline_ns = UINT64_MAX;
}

/* The library takes no answer now, so this one is written past it. */
static void answer_and_cut(struct client *client, unsigned status, const char *body)
{
    const struct http_response response = {.status = status,
                                           .content_type = "application/problem+json",
                                           .body = body,
                                           .body_n = strlen(body)};
    client_restore_locked(client);
    client_write_raw(client->fd, &response, "");
    client->cut_status = status;
    sweep_cut(client);
}

static void cut_slow_sender(struct client *client)
{
    char body[320];
    char detail[160] = "the request did not arrive in time";
    const struct config *config = client->server->config;
    metric_add(&timeouts, 1, NULL);
    metric_add(&slow_uploads, client->slow, NULL);
    if (client->slow)
        (void)snprintf(detail, sizeof detail,
                       "after %lld s (upload_grace_s) an upload is to come at %lld bytes/s on "
                       "average (upload_bytes_per_s_min)",
                       (long long)config->upload_grace_s,
                       (long long)config->upload_bytes_per_s_min);
    (void)snprintf(body, sizeof body,
                   "{\"type\":\"/problems/timeout\",\"title\":\"the time allowed for the request "
                   "is over\",\"status\":408,\"detail\":\"%s\"}",
                   detail);
    answer_and_cut(client, 408, body);
}

/*
 * A client that ended its sending side together with its last bytes goes unnoticed by the library,
 * which waits for a further edge. A second after such an end in the middle of a request it gets 400.
 */
static void look_for_end(struct client *client, uint64_t now_ns)
{
    const uint64_t patience_ns = 1000000000u;
    char byte;
    if (recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
        client->ended_ns = 0;
    else if (client->ended_ns == 0)
        client->ended_ns = now_ns;
    else if (now_ns - client->ended_ns > patience_ns)
        answer_and_cut(client, 400,
                       "{\"type\":\"/problems/malformed\",\"title\":\"the request is "
                       "malformed\",\"status\":400,\"detail\":\"the request ended too early\"}");
}

/*
 * The same between two requests: no further one will come. Looked for when one has just ended, as
 * an end that comes later is an edge of its own.
 */
static void look_for_end_of_idle(struct client *client, uint64_t now_ns)
{
    const uint64_t just_ns = 2000000000u;
    const uint64_t patience_ns = 200000000u;
    char byte;
    if (client->ended_ns == 0 && now_ns > client->since_ns + just_ns)
        return;
    if (recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
        client->ended_ns = 0;
    else if (client->ended_ns == 0)
        client->ended_ns = now_ns;
    else if (now_ns - client->ended_ns > patience_ns)
        sweep_cut(client);
}

/*
 * Has the client left while its request still waits for a worker? Under load such work would keep
 * others waiting. Work once begun is finished; and since a client that only ended its sending side
 * looks the same, a second of waiting must have passed.
 */
static bool left_while_queued(struct client *client, uint64_t now_ns)
{
    const uint64_t patience_ns = 1000000000u;
    char byte;
    struct exchange *x = client->exchange;
    return x != NULL && !atomic_load(&x->taken) && now_ns > x->waiting_ns + patience_ns &&
           recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Work in turns has the time of a request for each of them. */
static bool has_more_time(const struct client *client, uint64_t now_ns)
{
    return client->exchange != NULL && now_ns < atomic_load(&client->exchange->turn_ns);
}

/* true: the exchange is the sweeper's to answer. */
static bool take_back(struct client *client, struct expired *expired)
{
    enum exchange_state running = JOB_RUNNING;
    if (expired->n == BATCH || client->exchange == NULL)
        return false;
    bool body_goes_on = client->exchange->body_goes_on;
    /* Won: the connection stays suspended, hence alive, until it is resumed below. */
    if (!atomic_compare_exchange_strong(&client->exchange->state, &running, JOB_EXPIRED))
        return false;
    expired->body_goes_on[expired->n] = body_goes_on;
    expired->clients[expired->n++] = client;
    client->deadline_ns = UINT64_MAX;
    return true;
}

static void look_at(struct client *client, uint64_t now_ns, bool stopping, struct expired *expired)
{
    (void)pthread_mutex_lock(&client->lock);
    bool over = now_ns >= client->deadline_ns;
    switch (client->phase) {
    case CLIENT_WAITING:
        if (over)
            sweep_cut(client);
        else if (client->deadline_ns != UINT64_MAX)
            look_for_end_of_idle(client, now_ns);
        break;
    case CLIENT_REPLYING:
    case CLIENT_LINGERING:
        if (over)
            sweep_cut(client);
        break;
    case CLIENT_READING:
        if (over)
            cut_slow_sender(client);
        else if (client->deadline_ns != UINT64_MAX)
            look_for_end(client, now_ns);
        break;
    case CLIENT_WORKING:
        over = over && !has_more_time(client, now_ns);
        if ((over || stopping || left_while_queued(client, now_ns)) && take_back(client, expired)) {
            atomic_store(&client->exchange->left, !over && !stopping);
            metric_add(&timeouts, over, NULL);
        }
        break;
    }
    (void)pthread_mutex_unlock(&client->lock);
}

/* true: there may be more to take back at once. */
static bool sweep(struct http_server *server)
{
    struct expired expired = {.n = 0};
    bool stopping = atomic_load(&server->stopping);
    uint64_t now_ns = clock_monotonic_ns();
    (void)pthread_mutex_lock(&server->clients_lock);
    for (struct client *client = server->clients; client != NULL; client = client->next)
        look_at(client, now_ns, stopping, &expired);
    (void)pthread_mutex_unlock(&server->clients_lock);
    for (size_t i = 0; i < expired.n; i++)
        client_resume(expired.clients[i], expired.body_goes_on[i]);
    exchange_retry_orphans(server);
    return expired.n == BATCH;
}

/* A tenth of the shortest time watched, between 5 and 200 ms. */
static uint64_t pause_ns(const struct config *config)
{
    int64_t ms = config->request_timeout_ms / 10;
    if (ms > config->connection_idle_s * 100)
        ms = config->connection_idle_s * 100;
    ms = ms < 5 ? 5 : ms > 200 ? 200 : ms;
    return (uint64_t)ms * 1000000u;
}

void sweep_call(struct http_server *server, bool stop)
{
    (void)pthread_mutex_lock(&server->sweeper_lock);
    server->sweeper_called = true;
    server->sweeper_stop = server->sweeper_stop || stop;
    (void)pthread_cond_signal(&server->sweeper_wanted);
    (void)pthread_mutex_unlock(&server->sweeper_lock);
}

/* Until the pause is over or somebody calls; false: the server ends. */
static bool rest(struct http_server *server, uint64_t until_ns)
{
    (void)pthread_mutex_lock(&server->sweeper_lock);
    while (!server->sweeper_called &&
           cond_wait_until(&server->sweeper_wanted, &server->sweeper_lock, until_ns))
        ;
    server->sweeper_called = false;
    bool go_on = !server->sweeper_stop;
    (void)pthread_mutex_unlock(&server->sweeper_lock);
    return go_on;
}

/* What large requests leave in the heaps goes back to the system. Takes milliseconds then. */
static void trim_heaps(struct http_server *server)
{
    enum { TRIM_BYTES = 64 * 1024 * 1024 };
    size_t used = atomic_load(&server->options.resources->ledgers[RESOURCE_MEMORY].used);
    if (used > server->memory_highest)
        server->memory_highest = used;
    if (server->memory_highest - used < TRIM_BYTES)
        return;
    server->memory_highest = used;
    (void)malloc_trim(0);
}

void *sweep_run(void *argument)
{
    struct http_server *server = argument;
    const uint64_t pause = pause_ns(server->config);
    const uint64_t count_every_ns = 5u * UINT64_C(1000000000);
    uint64_t count_at_ns = 0;
    uint64_t sweep_at_ns = 0;
    uint64_t rest_until_ns = 0;
    while (rest(server, rest_until_ns)) {
        uint64_t now_ns = clock_monotonic_ns();
        if (now_ns >= count_at_ns) {
            http_metrics_set_open_fds(process_count_fds());
            trim_heaps(server);
            serve_report_cut_lines(server);
            count_at_ns = now_ns + count_every_ns;
        }
        bool roomy = crowd_make_room(&server->listener);
        roomy = crowd_make_room(&server->health) && roomy;
        if (now_ns < sweep_at_ns)
            clock_sleep_ms(LEAST_PAUSE_MS);
        else
            sweep_at_ns = sweep(server) ? now_ns : clock_monotonic_ns() + pause;
        rest_until_ns = roomy ? sweep_at_ns : now_ns + ROOM_PAUSE_MS * UINT64_C(1000000);
    }
    return NULL;
}
