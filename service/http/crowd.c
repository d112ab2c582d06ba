#include <stdlib.h>
#include <sys/socket.h>

#include "http/state.h"
#include "metrics/registry.h"
#include "threads/clock.h"

/*
 * Room for those who come to a listener that is crowded: idle connections are closed for them, by
 * the sweeper; where there are too few, a team beyond its share is refused (client_join).
 */

enum {
    NEW_MS = 200,      /* so long nobody is idle: a request may be on its way */
    LOOK_LASTS_MS = 50 /* the sweeper looks more often where there is too little room */
};

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

/* What the connections of a listener are. */
struct crowd {
    struct idle_client *idle; /* connections_max; NULL: they are only counted */
    long n_idle;
    long n_within; /* of those, of teams within their share */
    long staying;  /* of all, but for those cut or refused, which are as good as gone */
    bool new_strangers;
    size_t held_by_new; /* the most that a team holds which has such */
};

/* Those who come are refused for want of connections only where closing idle ones, now or in a
 * moment, makes too little room. */
static void
note_fullness(struct http_listener *listener, const struct crowd *crowd, uint64_t now_ns)
{
    long spared = crowd->staying <= listener->within_max ? crowd->n_within : 0;
    long to_close = crowd->n_idle - spared;
    atomic_store(&listener->full, to_close < crowd->staying - listener->crowded);
    atomic_store(&listener->looked_ns, now_ns);
}

/* With the clients' lock. Who has just come is not idle yet. */
static void look(struct http_listener *listener, struct crowd *crowd)
{
    uint64_t now_ns = clock_monotonic_ns();
    struct client *c = listener->server->clients;
    for (; c != NULL && crowd->n_idle < listener->connections_max; c = c->next) {
        struct idle_client idle;
        if (c->listener != listener || !is_idle(c, &idle, &crowd->staying))
            continue;
        if (!has_just_come(&idle, now_ns)) {
            if (crowd->idle != NULL)
                crowd->idle[crowd->n_idle] = idle;
            crowd->n_idle++;
            crowd->n_within += idle.within;
        } else if (idle.team == NULL) {
            crowd->new_strangers = true;
        } else if (idle.total > crowd->held_by_new) {
            crowd->held_by_new = idle.total;
        }
    }
    note_fullness(listener, crowd, now_ns);
}

/* Those that may go, in their order: as long as there are strangers who have just come, those who
 * are known stay. */
static long choose(struct http_listener *listener, struct crowd *crowd)
{
    const struct idle_client *idle = crowd->idle;
    long n = crowd->n_idle;
    sort_idle(crowd->idle, (size_t)n);
    bool more = n > 0 && idle[n - 1].team != NULL && idle[n - 1].total < crowd->held_by_new;
    bool awaits = awaits_those_of_more(listener, more, clock_monotonic_ns());
    while (n > 0 && idle[n - 1].team != NULL &&
           (crowd->new_strangers || (awaits && idle[n - 1].total < crowd->held_by_new)))
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

bool crowd_make_room(struct http_listener *listener)
{
    struct http_server *server = listener->server;
    if (atomic_load(&listener->connections) <= listener->crowded) {
        listener->awaiting_ns = 0;
        atomic_store(&listener->looked_ns, 0);
        return true;
    }
    struct crowd crowd = {.idle = calloc((size_t)listener->connections_max, sizeof *crowd.idle)};
    if (crowd.idle == NULL)
        return false;
    (void)pthread_mutex_lock(&server->clients_lock);
    look(listener, &crowd);
    long n = choose(listener, &crowd);
    long excess = crowd.staying - listener->crowded;
    for (long i = 0; i < n && i < excess; i++)
        if (!is_spared(listener, &crowd.idle[i], crowd.staying - i))
            crowd_out(&crowd.idle[i]);
    (void)pthread_mutex_unlock(&server->clients_lock);
    free(crowd.idle);
    return n >= excess;
}

static bool has_been_looked_at(const struct http_listener *listener)
{
    return clock_monotonic_ns() <
           atomic_load(&listener->looked_ns) + LOOK_LASTS_MS * UINT64_C(1000000);
}

bool crowd_is_full(struct http_listener *listener)
{
    struct http_server *server = listener->server;
    if (has_been_looked_at(listener))
        return atomic_load(&listener->full);
    struct crowd crowd = {.idle = NULL};
    (void)pthread_mutex_lock(&server->clients_lock);
    if (!has_been_looked_at(listener)) /* by another thread meanwhile */
        look(listener, &crowd);
    bool full = atomic_load(&listener->full);
    (void)pthread_mutex_unlock(&server->clients_lock);
    return full;
}
