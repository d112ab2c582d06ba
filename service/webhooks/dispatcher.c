#define _GNU_SOURCE /* pthread_setname_np */
#include "webhooks/dispatcher.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dispatch/event_body.h"
#include "dispatch/seal.h"
#include "dispatch/sender.h"
#include "log/log.h"
#include "metrics/registry.h"
#include "store/access/access.h"
#include "store/outbox/event_listener.h"
#include "threads/clock.h"
#include "threads/cond.h"
#include "webhooks/attempts.h"
#include "webhooks/held_webhooks.h"

/*
 * The loop of the thread: sleep until somebody wakes it or the next poll; write down what has ended;
 * dispatch events; take webhooks; load deliveries and hand them to the sender; let go of webhooks
 * that have nothing left. Each step is one statement for everything that the process holds, so a
 * round costs the same few statements for one delivery and for hundreds.
 */
enum {
    LEASE_MS = 15000,
    RENEW_MS = 4000, /* of webhooks that wait for slow receivers */
    DISPATCH_BATCH = 1000,
    DISPATCH_ROUNDS = 8, /* before outcomes are looked at again */
    GATHER_MS = 20,      /* between two dispatches: events that come one by one go together */
    EXPIRE_MS = 30000,
    EXPIRE_BATCH = 5000,
    COUNT_MS = 5000,
    NOT_READY_MS = 500,
    FAILED_MS = 250, /* after a round that failed */
    LISTEN_AGAIN_MS = 1000,
    AHEAD = 4,        /* deliveries loaded for each that may be sent at once */
    LOAD_MAX = 64,    /* of one webhook */
    LOADED_MAX = 4096 /* of all */
};

/* Why it was woken. */
enum {
    WOKEN_EVENTS = 1, /* of this process: they may be gathered */
    WOKEN_URGENT = 2, /* a webhook changed, or another process notified */
    WOKEN_OUTCOMES = 4,
    WOKEN_END = 8
};

METRIC_GAUGE(webhooks,
             "provisor_webhooks",
             "Webhooks of all teams by state (active, paused, disabled), a few seconds old.",
             "state");
METRIC_GAUGE(waiting,
             "provisor_webhook_deliveries_pending",
             "Deliveries of all teams that wait to be made, or made again.",
             "");
METRIC_GAUGE(event_age,
             "provisor_outbox_age_seconds",
             "Age of the oldest event that was not dispatched to webhooks.",
             "");
METRIC_GAUGE(delivery_age,
             "provisor_webhook_delivery_age_seconds",
             "How long the delivery that is due longest has waited.",
             "");
METRIC_COUNTER(
    given_up,
    "provisor_webhook_deliveries_given_up_total",
    "Deliveries that were given up without a last attempt, since their webhook was paused.",
    "");

struct dispatcher {
    struct store *store;
    const struct config *config;
    struct target_policy policy;
    struct sender *sender;
    struct event_listener *listener; /* NULL: not connected */
    unsigned char key[32];           /* of the service */
    char owner[37];                  /* who holds leases */
    struct held_webhooks held;
    struct attempts attempts; /* that have ended, to be written down */
    bool no_webhooks;         /* in the whole database, when last asked */
    uint64_t polled_ns, dispatched_ns, renewed_ns, expired_ns, counted_ns, listened_ns;
    char logged[sizeof((struct pv_error *)0)->detail];
    int wake_fd;
    atomic_uint woken;
    atomic_bool ending;
    pthread_t thread;
};

/* --- waking --- */

static void wake(struct dispatcher *dispatcher, unsigned why)
{
    unsigned before = atomic_fetch_or(&dispatcher->woken, why);
    if ((before & why) == why)
        return;
    const uint64_t one = 1;
    (void)!write(dispatcher->wake_fd, &one, sizeof one);
}

static void events_written(void *context, bool urgent)
{
    wake(context, urgent ? WOKEN_URGENT : WOKEN_EVENTS);
}

static void outcomes_ready(void *context)
{
    wake(context, WOKEN_OUTCOMES);
}

static bool is_past(uint64_t since_ns, int64_t ms)
{
    return clock_monotonic_ns() - since_ns >= (uint64_t)ms * 1000000u;
}

/* Milliseconds until so long after since_ns. */
static int ms_until(uint64_t since_ns, int64_t ms)
{
    uint64_t at_ns = since_ns + (uint64_t)ms * 1000000u;
    uint64_t now_ns = clock_monotonic_ns();
    return at_ns <= now_ns ? 0 : (int)((at_ns - now_ns + 999999u) / 1000000u);
}

/* Without any webhook events are only marked, in larger batches. */
static int64_t gather_ms(const struct dispatcher *dispatcher)
{
    return dispatcher->no_webhooks ? dispatcher->config->webhook_poll_ms : GATHER_MS;
}

static int time_to_wait(const struct dispatcher *dispatcher, unsigned pending)
{
    int ms = ms_until(dispatcher->polled_ns, dispatcher->config->webhook_poll_ms);
    if (pending & WOKEN_EVENTS) {
        int gathered = ms_until(dispatcher->dispatched_ns, gather_ms(dispatcher));
        ms = gathered < ms ? gathered : ms;
    }
    return ms;
}

static void hear_others(struct dispatcher *dispatcher)
{
    bool heard = false;
    if (!event_listener_drain(dispatcher->listener, dispatcher->owner, &heard)) {
        event_listener_close(dispatcher->listener);
        dispatcher->listener = NULL;
        dispatcher->listened_ns = clock_monotonic_ns();
        heard = true; /* whatever was said meanwhile */
    }
    if (heard)
        (void)atomic_fetch_or(&dispatcher->woken, WOKEN_URGENT);
}

/* Sleep until there is something to do; why it is awake. Events that wait to be gathered stay. */
static unsigned await_work(struct dispatcher *dispatcher)
{
    unsigned pending = atomic_load(&dispatcher->woken);
    if ((pending & ~(unsigned)WOKEN_EVENTS) == 0) {
        struct pollfd fds[2] = {{.fd = dispatcher->wake_fd, .events = POLLIN},
                                {.fd = -1, .events = POLLIN}};
        if (dispatcher->listener != NULL)
            fds[1].fd = event_listener_fd(dispatcher->listener);
        (void)poll(fds, 2, time_to_wait(dispatcher, pending));
        uint64_t count;
        if (fds[0].revents != 0)
            (void)!read(dispatcher->wake_fd, &count, sizeof count);
        if (fds[1].revents != 0)
            hear_others(dispatcher);
    }
    unsigned take = (unsigned)WOKEN_URGENT | WOKEN_OUTCOMES | WOKEN_END;
    if (is_past(dispatcher->dispatched_ns, gather_ms(dispatcher)))
        take |= WOKEN_EVENTS;
    return atomic_fetch_and(&dispatcher->woken, ~take) & take;
}

/* --- the steps of a round --- */

static void listen_again(struct dispatcher *dispatcher)
{
    struct pv_error err = {.code = PV_OK};
    if (dispatcher->listener != NULL || !is_past(dispatcher->listened_ns, LISTEN_AGAIN_MS))
        return;
    dispatcher->listened_ns = clock_monotonic_ns();
    if (event_listener_open(dispatcher->store, &dispatcher->listener, &err) != PV_OK)
        dispatcher->listener = NULL;
}

/* Events become deliveries. Whoever holds their webhooks hears of it. */
static enum pv_code dispatch(struct dispatcher *dispatcher, struct pv_error *err)
{
    const struct dispatch_limits limits = {.batch = DISPATCH_BATCH,
                                           .pending_max = dispatcher->config->webhook_pending_max,
                                           .give_up_s = dispatcher->config->webhook_give_up_s};
    struct dispatched done = {.events = DISPATCH_BATCH};
    int64_t deliveries = 0;
    dispatcher->dispatched_ns = clock_monotonic_ns();
    for (int i = 0; i < DISPATCH_ROUNDS && done.events == DISPATCH_BATCH; i++) {
        PV_TRY(store_events_dispatch(dispatcher->store, &limits, &done, err));
        deliveries += done.deliveries;
    }
    if (done.events == DISPATCH_BATCH)
        (void)atomic_fetch_or(&dispatcher->woken, WOKEN_URGENT);
    dispatcher->no_webhooks = !done.webhooks;
    return deliveries == 0 ? PV_OK : store_events_notify(dispatcher->store, dispatcher->owner, err);
}

static size_t room_for_webhooks(const struct dispatcher *dispatcher)
{
    size_t most = (size_t)dispatcher->config->webhook_connections_max;
    return dispatcher->held.n >= most ? 0 : most - dispatcher->held.n;
}

static enum pv_code open_secret(struct dispatcher *dispatcher,
                                struct held_webhook *webhook,
                                struct strview sealed,
                                struct pv_error *err)
{
    const struct seal_place place = {webhook->row.key.team_id, webhook->row.key.id, "secret"};
    struct signing_secret *secret = &webhook->secrets[webhook->n_secrets];
    struct strview bytes = {NULL, 0};
    PV_TRY(seal_open(&webhook->arena, dispatcher->key, &place, sealed, &bytes, err));
    if (bytes.n > sizeof secret->bytes)
        return pv_fail(err, PV_E_INTERNAL, "a secret is too long");
    secret->is_key_pair = strview_is(webhook->row.signature, "v1a");
    secret->n = bytes.n;
    memcpy(secret->bytes, bytes.at, bytes.n);
    webhook->n_secrets++;
    return PV_OK;
}

/* What its rows say in sealed form. */
static enum pv_code
open_webhook(struct dispatcher *dispatcher, struct held_webhook *webhook, struct pv_error *err)
{
    const struct webhook_held *row = &webhook->row;
    const struct seal_place place = {row->key.team_id, row->key.id, "authorization"};
    for (size_t i = 0; event_format_words[i] != NULL; i++)
        if (strview_is(row->format, event_format_words[i]))
            webhook->format = (enum event_format)i;
    PV_TRY(open_secret(dispatcher, webhook, row->secret, err));
    if (row->former_secret.at != NULL && row->former_secret_until_us > clock_wall_us())
        PV_TRY(open_secret(dispatcher, webhook, row->former_secret, err));
    if (row->authorization_value.at == NULL)
        return PV_OK;
    return seal_open(&webhook->arena, dispatcher->key, &place, row->authorization_value,
                     &webhook->authorization, err);
}

/* Nothing can be sent for it: left alone for as long as the longest pause, and said so. */
static void set_aside(struct dispatcher *dispatcher, struct held_webhook *webhook, const char *why)
{
    webhook->leaving = webhook->changed = true;
    webhook->health.failures++;
    webhook->health.pauses++;
    webhook->hold_until_ns =
        clock_monotonic_ns() +
        (uint64_t)dispatcher->config->webhook_pause_max_s * UINT64_C(1000000000);
    webhook->error = strview_of(arena_strdup(&webhook->arena, why));
    LOG_EVENT(LOG_ERROR, "webhook.unusable", NULL, LOG_TEXT("webhook_id", webhook->row.key.id),
              LOG_TEXT("reason", why));
}

static enum pv_code
hold(struct dispatcher *dispatcher, const struct webhook_held *row, struct pv_error *err)
{
    /* Its lease ran out under us: what is under way is written down as before. */
    struct held_webhook *webhook = held_webhooks_find(&dispatcher->held, &row->key);
    if (webhook != NULL)
        return PV_OK;
    webhook = held_webhooks_add(&dispatcher->held, row);
    if (webhook == NULL)
        return pv_no_memory(err); /* the lease runs out */
    struct pv_error why = {.code = PV_OK};
    webhook->loadable = true;
    if (open_webhook(dispatcher, webhook, &why) != PV_OK)
        set_aside(dispatcher, webhook, why.detail);
    return PV_OK;
}

static enum pv_code claim(struct dispatcher *dispatcher, struct arena *arena, struct pv_error *err)
{
    struct webhook_held *rows = NULL;
    size_t n = 0;
    size_t most = room_for_webhooks(dispatcher);
    if (most == 0)
        return PV_OK;
    PV_TRY(store_webhooks_claim(dispatcher->store, arena, dispatcher->owner, LEASE_MS, most, &rows,
                                &n, err));
    for (size_t i = 0; i < n; i++)
        PV_TRY(hold(dispatcher, &rows[i], err));
    return PV_OK;
}

/* Deliveries on their way to endpoints that are failing. */
static size_t count_failing(const struct dispatcher *dispatcher)
{
    size_t n = 0;
    for (const struct held_webhook *w = dispatcher->held.first; w != NULL; w = w->next)
        n += w->health.failures > 0 ? w->n_flights : 0;
    return n;
}

/* How many more deliveries of it may be loaded: some more than may be sent at once, so that the sender
 * has work while we ask the database; of one that is paused a single one, to try it. */
static int64_t room_for_deliveries(const struct held_webhook *webhook)
{
    int64_t most = webhook->health.pauses > 0 ? 1 : AHEAD * webhook->health.allowed;
    most = most > LOAD_MAX ? LOAD_MAX : most;
    int64_t room = most - (int64_t)webhook->n_flights;
    return webhook->leaving || !webhook->loadable || room < 0 ? 0 : room;
}

static size_t list_busy(const struct dispatcher *dispatcher, struct delivery_busy *busy)
{
    size_t n = 0;
    for (const struct held_webhook *w = dispatcher->held.first; w != NULL; w = w->next)
        for (const struct flight *f = w->flights; f != NULL; f = f->next)
            memcpy(busy[n++].id, f->id, sizeof f->id);
    return n;
}

/* Those that have room; all of them, where leases are to be renewed. */
static size_t list_wanted(struct dispatcher *dispatcher, bool all, struct delivery_wanted *wanted)
{
    size_t n = 0;
    size_t failing = count_failing(dispatcher);
    size_t loaded = dispatcher->held.n_flights;
    const size_t failing_max = (size_t)dispatcher->config->webhook_connections_max / 2;
    for (struct held_webhook *w = dispatcher->held.first; w != NULL; w = w->next) {
        int64_t most = room_for_deliveries(w);
        if (loaded >= LOADED_MAX || (w->health.failures > 0 && failing >= failing_max))
            most = 0;
        w->wanted = most;
        w->seen = most == 0 && !all; /* it is not asked about */
        loaded += (size_t)most;
        failing += w->health.failures > 0 ? (size_t)most : 0;
        if (!w->seen)
            wanted[n++] = (struct delivery_wanted){w->row.key, most};
    }
    return n;
}

static enum pv_code submit(struct dispatcher *dispatcher,
                           struct held_webhook *webhook,
                           const struct delivery_due *due,
                           struct arena *arena,
                           struct pv_error *err)
{
    char id[EVENT_ID_TEXT];
    event_message_id(due->event_id, id);
    const struct event_message event = {.id = id,
                                        .team_id = webhook->row.key.team_id,
                                        .type = due->type,
                                        .severity = due->severity,
                                        .happened_us = due->happened_us,
                                        .data = due->data};
    struct strview body = event_body_write(arena, webhook->format, &event);
    if (body.at == NULL)
        return pv_no_memory(err);
    if (webhook->n_secrets > 1 && webhook->row.former_secret_until_us <= clock_wall_us())
        webhook->n_secrets = 1;
    struct flight *flight = flight_add(&dispatcher->held, webhook, due);
    if (flight == NULL)
        return pv_no_memory(err);
    const struct sender_delivery delivery = {.lane = &webhook->lane,
                                             .flight = flight,
                                             .url = webhook->row.url,
                                             .authorization = webhook->authorization,
                                             .secrets = webhook->secrets,
                                             .n_secrets = webhook->n_secrets,
                                             .id = id,
                                             .content_type = event_content_type(webhook->format),
                                             .body = body};
    enum pv_code code = sender_submit(dispatcher->sender, &delivery, err);
    if (code != PV_OK)
        flight_remove(&dispatcher->held, flight);
    return code;
}

static void leave(struct dispatcher *dispatcher, struct held_webhook *webhook)
{
    webhook->leaving = true;
    sender_recall(dispatcher->sender, &webhook->lane);
}

/* A row of what was loaded: a delivery, or only that the webhook is still held. */
static enum pv_code take_due(struct dispatcher *dispatcher,
                             const struct delivery_due *due,
                             struct arena *arena,
                             struct pv_error *err)
{
    struct held_webhook *webhook = held_webhooks_find(&dispatcher->held, &due->webhook);
    if (webhook == NULL)
        return PV_OK;
    webhook->seen = true;
    if (due->version != webhook->row.version)
        leave(dispatcher, webhook);
    if (webhook->leaving || due->id[0] == '\0')
        return PV_OK;
    webhook->wanted--;
    return submit(dispatcher, webhook, due, arena, err);
}

static enum pv_code
load_all(struct dispatcher *dispatcher, struct arena *arena, bool renew, struct pv_error *err)
{
    struct held_webhooks *held = &dispatcher->held;
    struct delivery_due *due = NULL;
    size_t n = 0;
    struct delivery_wanted *wanted = arena_calloc(arena, held->n + 1, sizeof *wanted);
    struct delivery_busy *busy = arena_calloc(arena, held->n_flights + 1, sizeof *busy);
    if (wanted == NULL || busy == NULL)
        return pv_no_memory(err);
    size_t n_wanted = list_wanted(dispatcher, renew, wanted);
    size_t n_busy = list_busy(dispatcher, busy);
    PV_TRY(store_deliveries_load(dispatcher->store, arena, dispatcher->owner, LEASE_MS, wanted,
                                 n_wanted, busy, n_busy, &due, &n, err));
    for (size_t i = 0; i < n; i++)
        PV_TRY(take_due(dispatcher, &due[i], arena, err));
    for (struct held_webhook *w = held->first; w != NULL; w = w->next) {
        if (!w->seen)
            leave(dispatcher, w);
        if (w->wanted > 0)
            w->loadable = false; /* there were fewer than asked for */
    }
    return PV_OK;
}

/* Of those that have nothing on its way and nothing due, or are to be left. */
static enum pv_code
release(struct dispatcher *dispatcher, struct arena *arena, bool all, struct pv_error *err)
{
    struct held_webhooks *held = &dispatcher->held;
    struct webhook_key *keys = arena_calloc(arena, held->n + 1, sizeof *keys);
    size_t n = 0;
    if (keys == NULL)
        return pv_no_memory(err);
    for (const struct held_webhook *w = held->first; w != NULL; w = w->next)
        if (all || (w->n_flights == 0 && !w->changed && (w->leaving || !w->loadable)))
            keys[n++] = w->row.key;
    PV_TRY(store_webhooks_release(dispatcher->store, arena, dispatcher->owner, keys, n, err));
    for (size_t i = 0; i < n && !all; i++) {
        struct held_webhook *webhook = held_webhooks_find(held, &keys[i]);
        if (webhook->leaving) /* it may have changed only, and be there to be claimed again */
            wake(dispatcher, WOKEN_URGENT);
        held_webhooks_remove(held, webhook);
    }
    return PV_OK;
}

static enum pv_code note_outcomes(struct dispatcher *dispatcher, struct pv_error *err)
{
    enum pv_code code = PV_OK;
    struct sender_outcome *outcomes = sender_take_outcomes(dispatcher->sender);
    for (const struct sender_outcome *o = outcomes; o != NULL; o = o->next) {
        struct flight *flight = o->flight;
        struct held_webhook *webhook = flight->webhook;
        enum pv_code noted =
            o->attempted ? attempts_note(&dispatcher->attempts, dispatcher->config, flight, o, err)
                         : PV_OK;
        if (!o->attempted || noted != PV_OK)
            flight_remove(&dispatcher->held, flight);
        if (webhook->leaving)
            sender_recall(dispatcher->sender, &webhook->lane);
        code = noted != PV_OK ? noted : code;
    }
    sender_outcomes_free(outcomes);
    return code;
}

static enum pv_code write_outcomes(struct dispatcher *dispatcher, struct pv_error *err)
{
    PV_TRY(note_outcomes(dispatcher, err));
    return attempts_write(&dispatcher->attempts, dispatcher->store, dispatcher->owner,
                          &dispatcher->held, err);
}

static enum pv_code expire(struct dispatcher *dispatcher, struct pv_error *err)
{
    int64_t expired = 0;
    if (!is_past(dispatcher->expired_ns, EXPIRE_MS))
        return PV_OK;
    PV_TRY(store_deliveries_expire(dispatcher->store, EXPIRE_BATCH, &expired, err));
    if (expired > 0)
        metric_add(&given_up, (double)expired, NULL);
    if (expired < EXPIRE_BATCH)
        dispatcher->expired_ns = clock_monotonic_ns();
    return PV_OK;
}

static enum pv_code count(struct dispatcher *dispatcher, struct pv_error *err)
{
    struct webhook_counts counts;
    if (!is_past(dispatcher->counted_ns, COUNT_MS))
        return PV_OK;
    dispatcher->counted_ns = clock_monotonic_ns();
    PV_TRY(store_webhooks_count(dispatcher->store, &counts, err));
    metric_set(&webhooks, (double)counts.active, METRIC_LABELS("active"));
    metric_set(&webhooks, (double)counts.paused, METRIC_LABELS("paused"));
    metric_set(&webhooks, (double)counts.disabled, METRIC_LABELS("disabled"));
    metric_set(&waiting, (double)counts.pending, NULL);
    metric_set(&event_age, counts.event_age_s, NULL);
    metric_set(&delivery_age, counts.delivery_age_s, NULL);
    return PV_OK;
}

/* --- the thread --- */

static enum pv_code
work(struct dispatcher *dispatcher, unsigned woken, struct arena *arena, struct pv_error *err)
{
    bool poll_due = is_past(dispatcher->polled_ns, dispatcher->config->webhook_poll_ms);
    bool look = poll_due || (woken & (WOKEN_EVENTS | WOKEN_URGENT)) != 0;
    bool renew = is_past(dispatcher->renewed_ns, RENEW_MS);
    PV_TRY(write_outcomes(dispatcher, err));
    if (look) {
        PV_TRY(dispatch(dispatcher, err));
        for (struct held_webhook *w = dispatcher->held.first; w != NULL; w = w->next)
            w->loadable = !w->leaving;
        PV_TRY(claim(dispatcher, arena, err));
    }
    if (poll_due)
        dispatcher->polled_ns = clock_monotonic_ns();
    PV_TRY(load_all(dispatcher, arena, renew, err));
    if (renew)
        dispatcher->renewed_ns = clock_monotonic_ns();
    PV_TRY(release(dispatcher, arena, false, err));
    PV_TRY(expire(dispatcher, err));
    return count(dispatcher, err);
}

/* After a failure nothing is lost: what has ended waits to be written down, and the next round does the
 * rest. */
static void work_once(struct dispatcher *dispatcher, unsigned woken)
{
    struct arena arena;
    struct pv_error err = {.code = PV_OK};
    arena_init(&arena, 0);
    if (work(dispatcher, woken, &arena, &err) != PV_OK) {
        if (strcmp(dispatcher->logged, err.detail) != 0) /* the same reason is logged once */
            LOG_EVENT(LOG_WARN, "webhooks.waiting", NULL, LOG_TEXT("reason", err.detail));
        memcpy(dispatcher->logged, err.detail, sizeof dispatcher->logged);
        clock_sleep_ms(FAILED_MS);
        wake(dispatcher, WOKEN_URGENT);
    } else {
        dispatcher->logged[0] = '\0';
    }
    arena_fini(&arena);
}

/* The schema may still be migrated, the database away. */
static bool await_schema(struct dispatcher *dispatcher)
{
    struct pv_error err = {.code = PV_OK};
    while (!atomic_load(&dispatcher->ending)) {
        pv_error_clear(&err);
        if (store_ready(dispatcher->store, NULL, &err) == PV_OK &&
            store_service_key(dispatcher->store, dispatcher->key, &err) == PV_OK)
            return true;
        struct pollfd fd = {.fd = dispatcher->wake_fd, .events = POLLIN};
        uint64_t count;
        (void)poll(&fd, 1, NOT_READY_MS);
        (void)!read(dispatcher->wake_fd, &count, sizeof count);
        (void)atomic_fetch_and(&dispatcher->woken, (unsigned)WOKEN_END);
    }
    return false;
}

static void *run_dispatcher(void *argument)
{
    struct dispatcher *dispatcher = argument;
    if (!await_schema(dispatcher))
        return NULL;
    wake(dispatcher, WOKEN_URGENT);
    while (!atomic_load(&dispatcher->ending)) {
        listen_again(dispatcher);
        work_once(dispatcher, await_work(dispatcher));
    }
    return NULL;
}

/* --- from outside --- */

static bool start_thread(struct dispatcher *dispatcher)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&dispatcher->thread, NULL, run_dispatcher, dispatcher) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        (void)pthread_setname_np(dispatcher->thread, "dispatcher");
    return started;
}

static void dispatcher_free(struct dispatcher *dispatcher)
{
    store_on_events(dispatcher->store, NULL, NULL);
    sender_destroy(dispatcher->sender);
    event_listener_close(dispatcher->listener);
    attempts_fini(&dispatcher->attempts);
    held_webhooks_clear(&dispatcher->held);
    sodium_memzero(dispatcher->key, sizeof dispatcher->key);
    if (dispatcher->wake_fd >= 0)
        (void)close(dispatcher->wake_fd);
    free(dispatcher);
}

static enum pv_code
start(struct dispatcher *dispatcher, const struct config *config, struct pv_error *err)
{
    PV_TRY(target_policy_parse(config->webhook_private_targets, config->webhook_plain_http,
                               &dispatcher->policy, err));
    const struct sender_options options = {
        .policy = &dispatcher->policy,
        .connections_max = config->webhook_connections_max,
        .timeout_ms = config->webhook_timeout_ms,
        .connect_timeout_ms = config->webhook_connect_timeout_ms,
        .ca_file = config->webhook_ca_file[0] == '\0' ? NULL : config->webhook_ca_file,
        .ready = outcomes_ready,
        .context = dispatcher};
    dispatcher->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (dispatcher->wake_fd < 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "no descriptor for the dispatcher of webhooks");
    PV_TRY(sender_create(&options, &dispatcher->sender, err));
    store_on_events(dispatcher->store, events_written, dispatcher);
    if (!start_thread(dispatcher))
        return pv_fail(err, PV_E_UNAVAILABLE, "no thread for the dispatcher of webhooks");
    return PV_OK;
}

enum pv_code dispatcher_create(struct store *store,
                               const struct config *config,
                               struct dispatcher **dispatcher,
                               struct pv_error *err)
{
    struct dispatcher *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->store = store;
    made->config = config;
    made->wake_fd = -1;
    clock_uuid7(made->owner);
    attempts_init(&made->attempts);
    enum pv_code code = start(made, config, err);
    if (code != PV_OK) {
        dispatcher_free(made);
        return code;
    }
    *dispatcher = made;
    return PV_OK;
}

void dispatcher_ask_end(struct dispatcher *dispatcher)
{
    if (dispatcher == NULL)
        return;
    atomic_store(&dispatcher->ending, true);
    wake(dispatcher, WOKEN_END);
}

void dispatcher_destroy(struct dispatcher *dispatcher, unsigned end_s)
{
    struct arena arena;
    struct pv_error err = {.code = PV_OK};
    if (dispatcher == NULL)
        return;
    dispatcher_ask_end(dispatcher);
    (void)pthread_join(dispatcher->thread, NULL);
    sender_stop(dispatcher->sender, (int64_t)end_s * 1000);
    arena_init(&arena, 0);
    /* Where the database is away, leases run out by themselves, and attempts are made again. */
    if (write_outcomes(dispatcher, &err) != PV_OK ||
        release(dispatcher, &arena, true, &err) != PV_OK)
        LOG_EVENT(LOG_WARN, "webhooks.not_released", NULL, LOG_TEXT("reason", err.detail));
    arena_fini(&arena);
    dispatcher_free(dispatcher);
}
