#include "http/exchange.h"

#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "http/process.h"
#include "metrics/registry.h"
#include "threads/clock.h"

/*
 * The clock of the server. The library's own time-out counts from the last byte, so a client that
 * sends one byte a second keeps its connection for ever, and a suspended connection has none at
 * all. This thread looks at every connection a few times in the shortest time allowed.
 */

enum { BATCH = 64 };

METRIC_COUNTER(timeouts,
               "provisor_http_timeouts_total",
               "Requests whose time was over: answered 503 or 408, or cut.",
               "");

/* Connections taken back from workers in one pass; resumed outside all locks. */
struct expired {
    struct client *clients[BATCH];
    bool body_goes_on[BATCH];
    size_t n;
};

static void sweep_cut(struct client *client)
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
    metric_add(&timeouts, 1, NULL);
    answer_and_cut(client, 408,
                   "{\"type\":\"/problems/timeout\",\"title\":\"the time allowed for the request "
                   "is over\",\"status\":408,\"detail\":\"the request did not arrive in time\"}");
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
    case CLIENT_REPLYING:
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
static long pause_ns(const struct config *config)
{
    int64_t ms = config->request_timeout_ms / 10;
    if (ms > config->connection_idle_s * 100)
        ms = config->connection_idle_s * 100;
    ms = ms < 5 ? 5 : ms > 200 ? 200 : ms;
    return (long)ms * 1000000L;
}

void *sweep_run(void *argument)
{
    struct http_server *server = argument;
    const struct timespec pause = {.tv_nsec = pause_ns(server->config)};
    const uint64_t count_every_ns = 5u * UINT64_C(1000000000);
    uint64_t count_at_ns = 0;
    while (!atomic_load(&server->sweeper_stop)) {
        uint64_t now_ns = clock_monotonic_ns();
        if (now_ns >= count_at_ns) {
            http_metrics_set_open_fds(process_count_fds());
            http_memory_trim(&server->memory);
            count_at_ns = now_ns + count_every_ns;
        }
        if (!sweep(server))
            (void)nanosleep(&pause, NULL);
    }
    return NULL;
}
