#define _GNU_SOURCE /* pthread_setname_np */
#include "dispatch/sender.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "dispatch/load_count.h"
#include "metrics/registry.h"
#include "threads/clock.h"

enum {
    HEADERS_MAX = 64 << 10,
    POLL_MS = 1000,
    POLL_ENDING_MS = 50,
    CONNECTION_LIFE_S = 300, /* then the name is looked up again, however busy it is */
    /* Under way to one host, and of one team, or a quarter of all where that is more: */
    HOST_MAX = 32,
    TEAM_MAX = 8,
    CURL_TOO_LARGE = 100 /* CURLE_TOO_LARGE, which libcurl's header has since 8.6 */
};

METRIC_COUNTER(
    attempts,
    "provisor_webhook_attempts_total",
    "Attempts to deliver an event, by outcome: delivered, refused (3xx, 4xx), failed (5xx), "
    "timeout, unreachable, or forbidden (the address is not allowed).",
    "outcome");

static const double attempt_bounds_s[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                          0.5,   1,    2.5,   5,    10,  20};
METRIC_HISTOGRAM(attempt_seconds,
                 "provisor_webhook_attempt_duration_seconds",
                 "How long attempts to deliver an event took.",
                 "",
                 attempt_bounds_s);

/* One delivery on its way, with all that it needs. Its outcome is made with it, so that there is always
 * memory for it. */
struct transfer {
    struct transfer *next;
    struct sender *sender;
    struct sender_lane *lane;
    struct load_count *host; /* NULL: of none, or not counted */
    struct load_count *team; /* NULL: not counted */
    struct sender_outcome *outcome;
    CURL *easy;
    struct curl_slist *headers;
    char *url;
    char *authorization; /* the header, NULL: none */
    char *content_type;  /* likewise */
    char *id;
    char *body;
    size_t body_n;
    struct signing_secret secrets[SIGNATURES_MAX];
    size_t n_secrets;
    size_t read;
    size_t header_bytes;
    bool is_forbidden;
    bool is_interim; /* its answer is 1xx, and none came behind it */
    char curl_error[CURL_ERROR_SIZE];
};

struct lanes {
    struct sender_lane *first;
    struct sender_lane *last;
};

struct sender {
    struct sender_options options;
    CURLM *multi;
    CURL **idle; /* easy handles to be used again */
    size_t n_idle;
    size_t running;
    struct load_count *hosts;
    struct load_count *teams;
    struct lanes lanes; /* that have something waiting; whose turn was last is last */
    struct transfer *under_way;
    pthread_mutex_t lock; /* of what follows */
    struct transfer *inbox;
    struct transfer **inbox_end;
    struct sender_outcome *outcomes;
    struct sender_outcome **outcomes_end;
    bool stop;
    uint64_t stop_ns; /* when what is under way is cut off */
    pthread_t thread;
    bool joined;
};

/* --- transfers --- */

static char *copy_text(const char *prefix, struct strview text)
{
    size_t n = strlen(prefix);
    char *copy = malloc(n + text.n + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, prefix, n);
    if (text.n > 0)
        memcpy(copy + n, text.at, text.n);
    copy[n + text.n] = '\0';
    return copy;
}

/* Authorization is among them. */
static void wipe_headers(struct transfer *t)
{
    for (struct curl_slist *h = t->headers; h != NULL; h = h->next)
        sodium_memzero(h->data, strlen(h->data));
    if (t->authorization != NULL)
        sodium_memzero(t->authorization, strlen(t->authorization));
}

/* The outcome is not among what is freed. */
static void transfer_free(struct transfer *t)
{
    if (t == NULL)
        return;
    wipe_headers(t);
    curl_slist_free_all(t->headers);
    sodium_memzero(t->secrets, sizeof t->secrets);
    free(t->url);
    free(t->authorization);
    free(t->content_type);
    free(t->id);
    free(t->body);
    free(t);
}

static bool copy_delivery(struct transfer *t, const struct sender_delivery *delivery)
{
    t->lane = delivery->lane;
    t->url = copy_text("", delivery->url);
    t->id = copy_text("", strview_of(delivery->id));
    t->content_type = copy_text("Content-Type: ", strview_of(delivery->content_type));
    t->body = copy_text("", delivery->body);
    t->body_n = delivery->body.n;
    if (delivery->authorization.n > 0)
        t->authorization = copy_text("Authorization: ", delivery->authorization);
    t->n_secrets = delivery->n_secrets < SIGNATURES_MAX ? delivery->n_secrets : SIGNATURES_MAX;
    memcpy(t->secrets, delivery->secrets, t->n_secrets * sizeof *t->secrets);
    return t->url != NULL && t->id != NULL && t->content_type != NULL && t->body != NULL &&
           (delivery->authorization.n == 0 || t->authorization != NULL);
}

static struct transfer *transfer_make(struct sender *sender, const struct sender_delivery *delivery)
{
    struct transfer *t = calloc(1, sizeof *t);
    struct sender_outcome *outcome = calloc(1, sizeof *outcome);
    if (t == NULL || outcome == NULL || !copy_delivery(t, delivery)) {
        transfer_free(t);
        free(outcome);
        return NULL;
    }
    t->sender = sender;
    t->outcome = outcome;
    outcome->flight = delivery->flight;
    return t;
}

/* --- what libcurl asks and hands over --- */

/* The last word on an address, whatever the URL said and its name meant before. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *t = context;
    (void)purpose;
    if (target_allows(t->sender->options.policy, &address->addr))
        return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    t->is_forbidden = true; /* unless another address of the name is used */
    return CURL_SOCKET_BAD;
}

static size_t read_answer(char *at, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    struct sender_outcome *outcome = t->outcome;
    size_t bytes = size * n;
    size_t room = ANSWER_KEPT - outcome->answer_n;
    size_t kept = bytes < room ? bytes : room;
    memcpy(outcome->answer + outcome->answer_n, at, kept);
    outcome->answer_n += kept;
    t->read += bytes;
    if (t->read <= ANSWER_READ_MAX)
        return bytes;
    outcome->complete = true; /* as much of it as anybody wants */
    return 0;
}

static size_t read_header(char *at, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    (void)at;
    t->header_bytes += size * n;
    return t->header_bytes <= HEADERS_MAX ? size * n : 0;
}

/* --- beginning --- */

static bool add_header(struct transfer *t, const char *line)
{
    struct curl_slist *more = curl_slist_append(t->headers, line);
    if (more != NULL)
        t->headers = more;
    return more != NULL;
}

/* Signed now: the timestamp is that of the attempt. */
static bool write_headers(struct transfer *t)
{
    char line[64 + SIGNATURE_TEXT];
    char signature[SIGNATURE_TEXT];
    int64_t now_s = t->outcome->at_us / 1000000;
    const struct strview body = {t->body, t->body_n};
    signature_make(t->secrets, t->n_secrets, t->id, now_s, body, signature);
    bool done =
        add_header(t, t->content_type) && add_header(t, "Expect:") && add_header(t, "Accept: */*");
    (void)snprintf(line, sizeof line, "webhook-id: %s", t->id);
    done = done && add_header(t, line);
    (void)snprintf(line, sizeof line, "webhook-timestamp: %lld", (long long)now_s);
    done = done && add_header(t, line);
    (void)snprintf(line, sizeof line, "webhook-signature: %s", signature);
    done = done && add_header(t, line);
    return done && (t->authorization == NULL || add_header(t, t->authorization));
}

#define SET(option, value) (curl_easy_setopt(t->easy, option, value) == CURLE_OK)

/* Where it may go and how far: no redirects, no proxy of the environment, no password file, nothing
 * that is not HTTP. */
static bool set_bounds(struct transfer *t)
{
    const struct sender_options *o = &t->sender->options;
    return SET(CURLOPT_PROTOCOLS_STR, o->policy->plain_http ? "http,https" : "https") &&
           SET(CURLOPT_FOLLOWLOCATION, 0L) && SET(CURLOPT_PROXY, "") && SET(CURLOPT_NOPROXY, "*") &&
           SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L) &&
           SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) && SET(CURLOPT_SSL_VERIFYPEER, 1L) &&
           SET(CURLOPT_SSL_VERIFYHOST, 2L) &&
           (o->ca_file == NULL || SET(CURLOPT_CAINFO, o->ca_file)) && SET(CURLOPT_NOSIGNAL, 1L) &&
           SET(CURLOPT_TIMEOUT_MS, (long)o->timeout_ms) &&
           SET(CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_timeout_ms) &&
           SET(CURLOPT_OPENSOCKETFUNCTION, open_socket) && SET(CURLOPT_OPENSOCKETDATA, t) &&
           SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) &&
           SET(CURLOPT_MAXLIFETIME_CONN, (long)CONNECTION_LIFE_S) &&
           /* Names are looked up by threads of libcurl's, for as long as name servers let them wait.
            * Without this the end of a transfer waits for its thread, and all others wait with it. */
           SET(CURLOPT_QUICK_EXIT, 1L);
}

static bool set_request(struct transfer *t)
{
    return SET(CURLOPT_URL, t->url) && SET(CURLOPT_POST, 1L) && SET(CURLOPT_POSTFIELDS, t->body) &&
           SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body_n) &&
           SET(CURLOPT_HTTPHEADER, t->headers) &&
           SET(CURLOPT_USERAGENT, "provisor/" PROVISOR_VERSION) &&
           SET(CURLOPT_WRITEFUNCTION, read_answer) && SET(CURLOPT_WRITEDATA, t) &&
           SET(CURLOPT_HEADERFUNCTION, read_header) && SET(CURLOPT_HEADERDATA, t) &&
           SET(CURLOPT_ERRORBUFFER, t->curl_error) && SET(CURLOPT_PRIVATE, t);
}

static CURL *take_handle(struct sender *sender)
{
    return sender->n_idle > 0 ? sender->idle[--sender->n_idle] : curl_easy_init();
}

static void give_handle_back(struct sender *sender, CURL *easy)
{
    if (easy == NULL)
        return;
    curl_easy_reset(easy);
    if (sender->n_idle < (size_t)sender->options.connections_max)
        sender->idle[sender->n_idle++] = easy;
    else
        curl_easy_cleanup(easy);
}

/* --- ending --- */

/* How long the character is; 0: these bytes are none, or NUL. */
static size_t character_length(const char *at, size_t n)
{
    for (size_t length = 1; length <= 4 && length <= n; length++)
        if (*at != '\0' && strview_is_utf8((struct strview){at, length}))
            return length;
    return 0;
}

/* The first byte of a character of which the others are missing? */
static bool is_cut(const char *at, size_t n)
{
    unsigned char first = (unsigned char)*at;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
    return length > n;
}

/* Whatever bytes came: people get text, with a question mark for each byte that is none. */
static void make_readable(struct sender_outcome *outcome)
{
    for (size_t i = 0; i < outcome->answer_n;) {
        size_t left = outcome->answer_n - i;
        size_t length = character_length(outcome->answer + i, left);
        if (length == 0 && outcome->answer_n == ANSWER_KEPT && is_cut(outcome->answer + i, left))
            outcome->answer_n = i;
        else if (length == 0)
            outcome->answer[i] = '?';
        i += length == 0 ? 1 : length;
    }
    outcome->answer[outcome->answer_n] = '\0';
}

bool sender_succeeded(const struct sender_outcome *outcome)
{
    return outcome->complete && outcome->status >= 200 && outcome->status < 300;
}

/* Of several addresses one may have been refused and another used. */
static bool was_forbidden(const struct transfer *t, CURLcode result)
{
    return t->is_forbidden && result == CURLE_COULDNT_CONNECT;
}

/* All headers together have a bound of ours, one of them has one of libcurl's, which says that there is
 * no memory, or since 8.6 that it is too large. */
static bool has_long_headers(const struct transfer *t, CURLcode result)
{
    curl_off_t first_byte_us = 0;
    if (t->header_bytes > HEADERS_MAX)
        return true;
    (void)curl_easy_getinfo(t->easy, CURLINFO_STARTTRANSFER_TIME_T, &first_byte_us);
    return first_byte_us > 0 && (result == CURLE_OUT_OF_MEMORY || (int)result == CURL_TOO_LARGE);
}

static const char *outcome_word(const struct transfer *t, CURLcode result)
{
    long status = t->outcome->status;
    if (sender_succeeded(t->outcome))
        return "delivered";
    if (was_forbidden(t, result))
        return "forbidden";
    if (result == CURLE_OPERATION_TIMEDOUT)
        return "timeout";
    return status >= 500 ? "failed" : status >= 300 ? "refused" : "unreachable";
}

/* The refused address is not reported: names inside our network have addresses, too. */
static void describe(struct transfer *t, CURLcode result)
{
    struct sender_outcome *outcome = t->outcome;
    if (outcome->complete) {
        outcome->error[0] = '\0';
    } else if (was_forbidden(t, result)) {
        (void)snprintf(outcome->error, sizeof outcome->error,
                       "the name leads to a private or special address");
    } else if (has_long_headers(t, result)) {
        (void)snprintf(outcome->error, sizeof outcome->error,
                       "its headers are longer than is read");
    } else if (result == CURLE_OPERATION_TIMEDOUT) {
        (void)snprintf(outcome->error, sizeof outcome->error,
                       outcome->status > 0 ? "the answer did not end within %.3g s"
                                           : "no answer within %.3g s",
                       (double)outcome->duration_ms / 1000);
    } else if (t->is_interim) {
        (void)snprintf(outcome->error, sizeof outcome->error,
                       "the answer was only an interim one (1xx)");
    } else {
        const char *why = t->curl_error[0] != '\0' ? t->curl_error : curl_easy_strerror(result);
        strview_shorten(strview_of(why), outcome->error, sizeof outcome->error);
    }
}

static void put_outcome(struct sender *sender, struct sender_outcome *outcome)
{
    pthread_mutex_lock(&sender->lock);
    bool was_empty = sender->outcomes == NULL;
    *sender->outcomes_end = outcome;
    sender->outcomes_end = &outcome->next;
    pthread_mutex_unlock(&sender->lock);
    if (was_empty)
        sender->options.ready(sender->options.context);
}

/* Below 200 there is none: the answer was an interim one, with none behind it. */
static void read_status(struct transfer *t, CURLcode result)
{
    struct sender_outcome *outcome = t->outcome;
    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &outcome->status);
    outcome->complete |= result == CURLE_OK;
    if (outcome->status >= 200)
        return;
    t->is_interim = outcome->status >= 100;
    outcome->status = 0;
    outcome->complete = false;
}

static void transfer_end(struct transfer *t, CURLcode result, bool attempted)
{
    struct sender *sender = t->sender;
    struct sender_outcome *outcome = t->outcome;
    outcome->attempted = attempted;
    if (attempted) {
        curl_off_t wait_s = 0;
        outcome->duration_ms = (int64_t)((clock_monotonic_ns() - outcome->began_ns) / 1000000);
        read_status(t, result);
        (void)curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &wait_s);
        /* A date may be over. */
        outcome->retry_after_ms = wait_s > 86400 ? 86400000
                                  : wait_s < 0   ? 0
                                                 : (int64_t)wait_s * 1000;
        make_readable(outcome);
        describe(t, result);
        metric_add(&attempts, 1, METRIC_LABELS(outcome_word(t, result)));
        metric_observe(&attempt_seconds, (double)outcome->duration_ms / 1000, NULL);
    }
    give_handle_back(sender, t->easy);
    load_count_leave(&sender->hosts, t->host);
    load_count_leave(&sender->teams, t->team);
    transfer_free(t);
    put_outcome(sender, outcome);
}

/* --- the thread --- */

static void transfer_begin(struct sender *sender, struct transfer *t)
{
    t->outcome->at_us = clock_wall_us();
    t->outcome->began_ns = clock_monotonic_ns();
    t->easy = take_handle(sender);
    if (t->easy == NULL || !write_headers(t) || !set_bounds(t) || !set_request(t) ||
        curl_multi_add_handle(sender->multi, t->easy) != CURLM_OK) {
        transfer_end(t, CURLE_OUT_OF_MEMORY, false);
        return;
    }
    t->lane->running++;
    sender->running++;
    if (t->host != NULL)
        t->host->running++;
    if (t->team != NULL)
        t->team->running++;
    t->next = sender->under_way;
    sender->under_way = t;
}

static void lanes_add(struct lanes *lanes, struct sender_lane *lane)
{
    lane->next = NULL;
    if (lanes->first == NULL)
        lanes->first = lane;
    else
        lanes->last->next = lane;
    lanes->last = lane;
}

/* NULL: there is none. */
static struct sender_lane *lanes_take(struct lanes *lanes)
{
    struct sender_lane *lane = lanes->first;
    if (lane != NULL)
        lanes->first = lane->next;
    return lane;
}

static void queue_in_lane(struct sender *sender, struct transfer *t)
{
    struct sender_lane *lane = t->lane;
    t->next = NULL;
    t->host = load_count_join_host(&sender->hosts, t->url);
    t->team = load_count_join(&sender->teams, lane->team);
    if (lane->first == NULL)
        lane->first = t;
    else
        lane->last->next = t;
    lane->last = t;
    if (!lane->listed) {
        lane->listed = true;
        lanes_add(&sender->lanes, lane);
    }
}

/* true: the thread is to go on. */
static bool take_inbox(struct sender *sender)
{
    pthread_mutex_lock(&sender->lock);
    struct transfer *t = sender->inbox;
    sender->inbox = NULL;
    sender->inbox_end = &sender->inbox;
    bool stop = sender->stop;
    pthread_mutex_unlock(&sender->lock);
    while (t != NULL) {
        struct transfer *next = t->next;
        queue_in_lane(sender, t);
        t = next;
    }
    return !stop;
}

static bool is_below(const struct load_count *count, size_t bound)
{
    return count == NULL || count->running < bound;
}

/* A lane with nothing under way may begin one where others may begin none: of all connections the last
 * eighth is for such lanes, and of a host as many again as its bound. So whoever fills the share of a team
 * or the bound of a host keeps no endpoint of another team from its first attempt. */
static bool lane_has_room(const struct sender *sender, const struct sender_lane *lane)
{
    const struct transfer *t = lane->first;
    size_t all = (size_t)sender->options.connections_max;
    size_t of_host = all / 4 > HOST_MAX ? all / 4 : HOST_MAX;
    size_t of_team = all / 4 > TEAM_MAX ? all / 4 : TEAM_MAX;
    if (t == NULL || lane->running >= atomic_load(&lane->limit))
        return false;
    if (lane->running == 0)
        of_host *= 2;
    else
        all -= all / 8 > 1 ? all / 8 : 1;
    return sender->running < all && is_below(t->host, of_host) && is_below(t->team, of_team);
}

static struct transfer *lane_pop(struct sender_lane *lane)
{
    struct transfer *t = lane->first;
    lane->first = t->next;
    return t;
}

/* Last of all the lane itself is let go of: with its last outcome its memory may end. */
static void lane_drop(struct sender_lane *lane)
{
    struct transfer *t = lane->first;
    lane->first = NULL;
    while (t != NULL) {
        struct transfer *next = t->next;
        transfer_end(t, CURLE_ABORTED_BY_CALLBACK, false);
        t = next;
    }
}

/* One more of the lane, if it may; then its place is behind those that got none. */
static bool serve_lane(struct sender *sender,
                       struct sender_lane *lane,
                       struct lanes *waiting,
                       struct lanes *served)
{
    bool is_recalled = atomic_load(&lane->is_recalled);
    struct transfer *t = !is_recalled && lane_has_room(sender, lane) ? lane_pop(lane) : NULL;
    lane->listed = !is_recalled && lane->first != NULL;
    if (lane->listed)
        lanes_add(t == NULL ? waiting : served, lane);
    if (is_recalled)
        lane_drop(lane);
    if (t != NULL)
        transfer_begin(sender, t);
    return t != NULL;
}

/* One of each lane after the other, and who got one is last the next time, too: a long queue is not
 * before a short one, however few connections there are. */
static void begin_waiting(struct sender *sender)
{
    bool begun = true;
    while (begun) {
        struct lanes waiting = {NULL, NULL};
        struct lanes served = {NULL, NULL};
        struct sender_lane *lane;
        begun = false;
        while ((lane = lanes_take(&sender->lanes)) != NULL)
            begun |= serve_lane(sender, lane, &waiting, &served);
        while ((lane = lanes_take(&served)) != NULL)
            lanes_add(&waiting, lane);
        sender->lanes = waiting;
    }
}

static void drop_waiting(struct sender *sender)
{
    struct sender_lane *lane;
    while ((lane = lanes_take(&sender->lanes)) != NULL) {
        lane->listed = false;
        lane_drop(lane);
    }
}

static void
end_under_way(struct sender *sender, struct transfer *t, CURLcode result, bool attempted)
{
    struct transfer **at = &sender->under_way;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    (void)curl_multi_remove_handle(sender->multi, t->easy);
    t->lane->running--;
    sender->running--;
    if (t->host != NULL)
        t->host->running--;
    if (t->team != NULL)
        t->team->running--;
    transfer_end(t, result, attempted);
}

static void end_finished(struct sender *sender)
{
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(sender->multi, &left)) != NULL) {
        struct transfer *t = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode result = message->data.result;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        end_under_way(sender, t, result, true);
    }
}

static bool may_go_on_ending(struct sender *sender)
{
    pthread_mutex_lock(&sender->lock);
    uint64_t stop_ns = sender->stop_ns;
    pthread_mutex_unlock(&sender->lock);
    return sender->running > 0 && clock_monotonic_ns() < stop_ns;
}

static void *send_all(void *argument)
{
    struct sender *sender = argument;
    int running = 0;
    bool going = true;
    while (going || may_go_on_ending(sender)) {
        going = take_inbox(sender) && going;
        if (going)
            begin_waiting(sender);
        else
            drop_waiting(sender);
        (void)curl_multi_perform(sender->multi, &running);
        size_t before = sender->running;
        end_finished(sender);
        if (sender->running == before)
            (void)curl_multi_poll(sender->multi, NULL, 0, going ? POLL_MS : POLL_ENDING_MS, NULL);
    }
    (void)take_inbox(sender);
    drop_waiting(sender);
    while (sender->under_way != NULL)
        end_under_way(sender, sender->under_way, CURLE_ABORTED_BY_CALLBACK, false);
    return NULL;
}

/* --- the sender --- */

bool sender_init_library(void)
{
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* Signals belong to one thread of the program, never to this one. */
static bool start_thread(struct sender *sender)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&sender->thread, NULL, send_all, sender) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        (void)pthread_setname_np(sender->thread, "sender");
    return started;
}

static void sender_free(struct sender *sender)
{
    for (size_t i = 0; i < sender->n_idle; i++)
        curl_easy_cleanup(sender->idle[i]);
    curl_multi_cleanup(sender->multi);
    free(sender->idle);
    sender_outcomes_free(sender->outcomes);
    pthread_mutex_destroy(&sender->lock);
    free(sender);
}

enum pv_code
sender_create(const struct sender_options *options, struct sender **sender, struct pv_error *err)
{
    struct sender *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->options = *options;
    made->inbox_end = &made->inbox;
    made->outcomes_end = &made->outcomes;
    (void)pthread_mutex_init(&made->lock, NULL);
    made->multi = curl_multi_init();
    made->idle = calloc((size_t)options->connections_max, sizeof(CURL *));
    if (made->multi == NULL || made->idle == NULL) {
        sender_free(made);
        return pv_no_memory(err);
    }
    (void)curl_multi_setopt(made->multi, CURLMOPT_MAXCONNECTS, (long)options->connections_max);
    /* Those that are kept open are closed before there are more; transfers never wait for it. */
    (void)curl_multi_setopt(made->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                            (long)options->connections_max);
    if (!start_thread(made)) {
        sender_free(made);
        return pv_fail(err, PV_E_UNAVAILABLE, "no thread to send webhooks");
    }
    *sender = made;
    return PV_OK;
}

void sender_stop(struct sender *sender, int64_t end_ms)
{
    if (sender == NULL || sender->joined)
        return;
    pthread_mutex_lock(&sender->lock);
    sender->stop = true;
    sender->stop_ns = clock_monotonic_ns() + (uint64_t)end_ms * 1000000u;
    pthread_mutex_unlock(&sender->lock);
    (void)curl_multi_wakeup(sender->multi);
    (void)pthread_join(sender->thread, NULL);
    sender->joined = true;
}

void sender_destroy(struct sender *sender)
{
    if (sender == NULL)
        return;
    sender_stop(sender, 0);
    sender_free(sender);
}

enum pv_code
sender_submit(struct sender *sender, const struct sender_delivery *delivery, struct pv_error *err)
{
    struct transfer *t = transfer_make(sender, delivery);
    if (t == NULL)
        return pv_no_memory(err);
    pthread_mutex_lock(&sender->lock);
    bool was_empty = sender->inbox == NULL;
    bool stopped = sender->stop;
    if (!stopped) {
        *sender->inbox_end = t;
        sender->inbox_end = &t->next;
    }
    pthread_mutex_unlock(&sender->lock);
    if (stopped) {
        free(t->outcome);
        transfer_free(t);
        return pv_fail(err, PV_E_UNAVAILABLE, "the service stops: no more events are sent");
    }
    if (was_empty)
        (void)curl_multi_wakeup(sender->multi);
    return PV_OK;
}

void sender_recall(struct sender *sender, struct sender_lane *lane)
{
    atomic_store(&lane->is_recalled, true);
    (void)curl_multi_wakeup(sender->multi);
}

void sender_lane_open(struct sender_lane *lane, const char *team, int64_t limit)
{
    *lane = (struct sender_lane){.team = team};
    atomic_init(&lane->limit, limit);
    atomic_init(&lane->is_recalled, false);
}

struct sender_outcome *sender_take_outcomes(struct sender *sender)
{
    pthread_mutex_lock(&sender->lock);
    struct sender_outcome *outcomes = sender->outcomes;
    sender->outcomes = NULL;
    sender->outcomes_end = &sender->outcomes;
    pthread_mutex_unlock(&sender->lock);
    return outcomes;
}

void sender_outcomes_free(struct sender_outcome *outcomes)
{
    while (outcomes != NULL) {
        struct sender_outcome *next = outcomes->next;
        free(outcomes);
        outcomes = next;
    }
}
