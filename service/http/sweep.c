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
    NEW_MS = 200,       /* so long nobody is idle: a request may be on its way */
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

/* --- room for those who come --- */

METRIC_COUNTER(crowded_out,
               "provisor_http_connections_crowded_out_total",
               "Idle connections closed to make room for new ones, by whether a valid token had "
               "been sent on them.",
               "authenticated");

struct idle_client {
    struct client *client;
    uint64_t since_ns;
    bool answered;    /* already, whatever still comes */
    const void *team; /* to compare only: its share may be gone; NULL: a stranger's */
    size_t total;     /* connections of the team, */
    size_t held;      /* without those that go before this one */
    bool within;      /* the team's share */
};

/*
 * Nobody waits for anything on such a connection: between requests, before the end of the header of
 * one that has no valid token so far, or after an answer that came before the end of its request.
 * Neither is a stranger who does not read an answer waited for.
 */
static bool is_idle(struct client *client, struct idle_client *idle, long *staying)
{
    (void)pthread_mutex_lock(&client->lock);
    const struct ledger_share *share = client->place.share;
    size_t total = share == NULL ? 0 : atomic_load(&share->used);
    *idle = (struct idle_client){.client = client,
                                 .since_ns = client->since_ns,
                                 .answered = client->phase == CLIENT_LINGERING ||
                                             client->phase == CLIENT_REPLYING,
                                 .team = share,
                                 .total = total,
                                 .held = total,
                                 .within = share != NULL && ledger_is_within(&client->place)};
    bool waits =
        client->phase == CLIENT_WAITING || client->phase == CLIENT_LINGERING ||
        (share == NULL && (client->phase == CLIENT_READING || client->phase == CLIENT_REPLYING));
    bool cut = client->deadline_ns == UINT64_MAX && client->phase != CLIENT_WORKING;
    bool ends = client->ends && client->phase != CLIENT_LINGERING;
    (void)pthread_mutex_unlock(&client->lock);
    *staying += !cut && !ends;
    return waits && !cut && !ends;
}

/* A request may be on its way, or lie there unread; from who has ended its side none will come. */
static bool has_just_come(const struct idle_client *idle, uint64_t now_ns)
{
    char byte;
    return now_ns < idle->since_ns + NEW_MS * UINT64_C(1000000) ||
           (!idle->answered && recv(idle->client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0);
}

static int compare_since(const struct idle_client *a, const struct idle_client *b)
{
    return (a->since_ns > b->since_ns) - (a->since_ns < b->since_ns);
}

/* Team by team, and within one who has been idle longest. */
static int compare_in_teams(const void *left, const void *right)
{
    const struct idle_client *a = left, *b = right;
    uintptr_t one = (uintptr_t)a->team, other = (uintptr_t)b->team;
    return one != other ? (one > other) - (one < other) : compare_since(a, b);
}

/* Strangers first, then of the team that holds the most, and of equals who has been idle longest. */
static int compare_idle(const void *left, const void *right)
{
    const struct idle_client *a = left, *b = right;
    if ((a->team == NULL) != (b->team == NULL))
        return a->team == NULL ? -1 : 1;
    if (a->held != b->held)
        return a->held > b->held ? -1 : 1;
    return compare_since(a, b);
}

/* As they are to go: with each that goes its team holds one less. */
static void sort_idle(struct idle_client idle[], size_t n)
{
    qsort(idle, n, sizeof *idle, compare_in_teams);
    for (size_t i = 1; i < n; i++)
        if (idle[i].team != NULL && idle[i].team == idle[i - 1].team)
            idle[i].held = idle[i - 1].held > 0 ? idle[i - 1].held - 1 : 0;
    qsort(idle, n, sizeof *idle, compare_idle);
}

/* With so many connections left. Else a team whose requests last would cost others all they keep. */
static bool
is_spared(const struct http_listener *listener, const struct idle_client *idle, long left)
{
    return idle->within && left <= listener->within_max;
}

/*
 * A team holds more than others and has connections that will be idle in a moment: the others are
 * not to lose one for want of that moment. No longer: who asks all the time always has such.
 */
static bool awaits_those_of_more(struct http_listener *listener, bool there_are, uint64_t now_ns)
{
    if (!there_are)
        listener->awaiting_ns = 0;
    else if (listener->awaiting_ns == 0)
        listener->awaiting_ns = now_ns;
    return there_are && now_ns < listener->awaiting_ns + NEW_MS * UINT64_C(1000000);
}

/* Those who come are refused for want of connections only where closing idle ones, now or in a
 * moment, makes too little room. */
static void note_fullness(struct http_listener *listener,
                          const struct idle_client idle[],
                          size_t n,
                          long staying)
{
    long to_close = 0;
    for (size_t i = 0; i < n; i++)
        to_close += !is_spared(listener, &idle[i], staying);
    atomic_store(&listener->full, to_close < staying - listener->crowded);
}

/*
 * With the clients' lock. Strangers who have just come are not idle yet; as long as there are any,
 * those who are known stay. *staying: how many there are but for those cut or refused,
 * which are as good as gone.
 */
static size_t
find_idle(struct http_listener *listener, struct idle_client idle[], size_t most, long *staying)
{
    size_t n = 0;
    bool new_strangers = false;
    size_t held_by_new = 0;
    uint64_t now_ns = clock_monotonic_ns();
    for (struct client *c = listener->server->clients; c != NULL && n < most; c = c->next) {
        if (c->listener != listener || !is_idle(c, &idle[n], staying))
            continue;
        if (!has_just_come(&idle[n], now_ns))
            n++;
        else if (idle[n].team == NULL)
            new_strangers = true;
        else if (idle[n].total > held_by_new)
            held_by_new = idle[n].total;
    }
    note_fullness(listener, idle, n, *staying);
    sort_idle(idle, n);
    bool more = n > 0 && idle[n - 1].team != NULL && idle[n - 1].total < held_by_new;
    bool awaits = awaits_those_of_more(listener, more, now_ns);
    while (n > 0 && idle[n - 1].team != NULL &&
           (new_strangers || (awaits && idle[n - 1].total < held_by_new)))
        n--;
    return n;
}

static void crowd_out(const struct idle_client *idle)
{
    struct client *client = idle->client;
    (void)pthread_mutex_lock(&client->lock);
    /* It may have sent something since it was looked at. */
    if (client->since_ns == idle->since_ns && client->deadline_ns != UINT64_MAX) {
        sweep_cut(client);
        metric_add(&crowded_out, 1, METRIC_LABELS(idle->team != NULL ? "yes" : "no"));
    }
    (void)pthread_mutex_unlock(&client->lock);
}

/*
 * The library closes a socket that was shut down, and takes another connection in its place. false:
 * there is still too little room.
 */
static bool make_room(struct http_listener *listener)
{
    struct http_server *server = listener->server;
    if (atomic_load(&listener->connections) <= listener->crowded) {
        listener->awaiting_ns = 0;
        atomic_store(&listener->full, false);
        return true;
    }
    size_t most = (size_t)listener->connections_max;
    struct idle_client *idle = calloc(most, sizeof *idle);
    if (idle == NULL)
        return false;
    (void)pthread_mutex_lock(&server->clients_lock);
    long staying = 0;
    long n = (long)find_idle(listener, idle, most, &staying);
    long excess = staying - listener->crowded;
    for (long i = 0; i < n && i < excess; i++)
        if (!is_spared(listener, &idle[i], staying - i))
            crowd_out(&idle[i]);
    (void)pthread_mutex_unlock(&server->clients_lock);
    free(idle);
    return n >= excess;
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
        bool roomy = make_room(&server->listener);
        roomy = make_room(&server->health) && roomy;
        if (now_ns < sweep_at_ns)
            clock_sleep_ms(LEAST_PAUSE_MS);
        else
            sweep_at_ns = sweep(server) ? now_ns : clock_monotonic_ns() + pause;
        rest_until_ns = roomy ? sweep_at_ns : now_ns + ROOM_PAUSE_MS * UINT64_C(1000000);
    }
    return NULL;
}
