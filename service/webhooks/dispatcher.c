#define _GNU_SOURCE /* pthread_setname_np */
#include "webhooks/dispatcher.h"

#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dispatch/sender.h"
#include "log/log.h"
#include "metrics/registry.h"
#include "store/access/access.h"
#include "store/clusters/admission.h"
#include "store/outbox/event_listener.h"
#include "threads/clock.h"
#include "webhooks/dispatcher_internal.h"

/*
 * The loop of the thread: sleep until somebody wakes it or the next poll; write down what has ended;
 * dispatch events; take webhooks; load deliveries and hand them to the sender; let go of webhooks
 * that have nothing left. Each step is one statement for everything that the process holds, so a
 * round costs the same few statements for one delivery and for hundreds.
 */
enum {
    RENEW_MS = 4000,       /* of webhooks that wait for slow receivers */
    DISPATCH_BATCH = 5000, /* deliveries made in one statement */
    DISPATCH_MS = 500,     /* before outcomes are looked at again */
    GATHER_MS = 20,        /* between two dispatches: events that come one by one go together */
    EXPIRE_MS = 30000,
    EXPIRE_BATCH = 5000,
    COUNT_MS = 5000,
    NOT_READY_MS = 500,
    FAILED_MS = 250, /* after a round that failed */
    LISTEN_AGAIN_MS = 1000,
    STEPS = 8 /* of a round */
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

METRIC_COUNTER(expired_admissions,
               "provisor_admissions_expired_total",
               "Admissions that nobody gave back in time.",
               "");

/* --- waking --- */

void dispatcher_wake(struct dispatcher *dispatcher, unsigned why)
{
    unsigned before = atomic_fetch_or(&dispatcher->woken, why);
    if ((before & why) == why)
        return;
    const uint64_t one = 1;
    (void)!write(dispatcher->wake_fd, &one, sizeof one);
}

static void events_written(void *context, bool urgent)
{
    dispatcher_wake(context, urgent ? WOKEN_URGENT : WOKEN_EVENTS);
}

static void outcomes_ready(void *context)
{
    dispatcher_wake(context, WOKEN_OUTCOMES);
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
    int admissions = ms_until(dispatcher->admissions_ns, dispatcher->config->admission_poll_ms);
    ms = admissions < ms ? admissions : ms;
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

/* Events become deliveries, for a moment: outcomes and leases do not wait for a long queue of them. Whoever
 * holds their webhooks hears of it. */
static enum pv_code dispatch(struct dispatcher *dispatcher, struct pv_error *err)
{
    const struct dispatch_limits limits = {.batch = DISPATCH_BATCH,
                                           .pending_max = dispatcher->config->webhook_pending_max,
                                           .give_up_s = dispatcher->config->webhook_give_up_s};
    struct dispatched done = {.more = true};
    int64_t deliveries = 0;
    enum pv_code code = PV_OK;
    dispatcher->dispatched_ns = clock_monotonic_ns();
    while (code == PV_OK && done.more && !is_past(dispatcher->dispatched_ns, DISPATCH_MS)) {
        code = store_events_dispatch(dispatcher->store, &limits, &done, err);
        deliveries += code == PV_OK ? done.deliveries : 0;
    }
    if (code == PV_OK && done.more)
        (void)atomic_fetch_or(&dispatcher->woken, WOKEN_URGENT);
    if (code == PV_OK)
        dispatcher->no_webhooks = !done.webhooks;
    if (code == PV_OK && deliveries > 0)
        code = store_events_notify(dispatcher->store, dispatcher->owner, err);
    return code;
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

/* What is reported of them is dispatched like any other event: store_on_events does not hear of it. */
static enum pv_code expire_admissions(struct dispatcher *dispatcher, struct pv_error *err)
{
    int64_t expired = 0;
    if (!is_past(dispatcher->admissions_ns, dispatcher->config->admission_poll_ms))
        return PV_OK;
    dispatcher->admissions_ns = clock_monotonic_ns();
    PV_TRY(store_admissions_expire(dispatcher->store, EXPIRE_BATCH, &expired, err));
    if (expired > 0)
        metric_add(&expired_admissions, (double)expired, NULL);
    if (expired > 0)
        (void)atomic_fetch_or(&dispatcher->woken, WOKEN_EVENTS);
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

/* Every step, whatever became of those before it: what fails for one team's rows, or takes too long, is
 * no reason to leave the others. The first failure is the one reported. */
static enum pv_code
work(struct dispatcher *dispatcher, unsigned woken, struct arena *arena, struct pv_error *err)
{
    bool poll_due = is_past(dispatcher->polled_ns, dispatcher->config->webhook_poll_ms);
    bool look = poll_due || (woken & (WOKEN_EVENTS | WOKEN_URGENT)) != 0;
    bool renew = is_past(dispatcher->renewed_ns, RENEW_MS);
    enum pv_code codes[STEPS] = {PV_OK};
    codes[0] = write_outcomes(dispatcher, err);
    if (look) {
        codes[1] = dispatch(dispatcher, err);
        for (struct held_webhook *w = dispatcher->held.first; w != NULL; w = w->next)
            w->loadable = !w->leaving;
        codes[2] = dispatcher_claim(dispatcher, arena, err);
    }
    codes[3] = dispatcher_load(dispatcher, arena, renew, err);
    codes[4] = dispatcher_release(dispatcher, arena, false, err);
    codes[5] = expire(dispatcher, err);
    codes[6] = count(dispatcher, err);
    codes[7] = expire_admissions(dispatcher, err);
    if (poll_due)
        dispatcher->polled_ns = clock_monotonic_ns();
    if (renew && codes[3] == PV_OK)
        dispatcher->renewed_ns = clock_monotonic_ns();
    enum pv_code first = PV_OK;
    for (size_t i = 0; i < STEPS && first == PV_OK; i++)
        first = codes[i];
    return first;
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
        dispatcher_wake(dispatcher, WOKEN_URGENT);
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
    dispatcher_wake(dispatcher, WOKEN_URGENT);
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
    dispatcher_wake(dispatcher, WOKEN_END);
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
        dispatcher_release(dispatcher, &arena, true, &err) != PV_OK)
        LOG_EVENT(LOG_WARN, "webhooks.not_released", NULL, LOG_TEXT("reason", err.detail));
    arena_fini(&arena);
    dispatcher_free(dispatcher);
}
