#include "http/exchange.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/duty.h"
#include "http/admission.h"
#include "http/coding.h"
#include "http/reply_fields.h"
#include "http/token_lookup.h"
#include "log/log.h"
#include "metrics/registry.h"
#include "threads/clock.h"

enum { RETRIES = 3 };

METRIC_COUNTER(lines_cut,
               "provisor_log_lines_about_strangers_cut_total",
               "Log lines left out because there were more than log_unauthenticated_per_s about "
               "requests without a valid token.",
               "");
METRIC_COUNTER(moves,
               "provisor_http_moves_total",
               "Requests handed from one kind of worker to the other in the middle, by where they "
               "went (io or compute).",
               "to");

/*
 * Requests that are refused by the thousand shall not each take and give back what the allocator
 * finds under a lock. Checkers of memory see every end of an exchange.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* gcc */
#define SPARE_MAX 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPARE_MAX 0
#endif
#endif
#ifndef SPARE_MAX
#define SPARE_MAX 64
#endif

static struct exchange *allocate(struct http_server *server)
{
    (void)pthread_mutex_lock(&server->spare_lock);
    struct exchange *x = server->spare;
    if (x != NULL) {
        server->spare = x->next_ended;
        server->n_spare--;
    }
    (void)pthread_mutex_unlock(&server->spare_lock);
    if (x == NULL)
        return calloc(1, sizeof *x);
    memset(x, 0, sizeof *x);
    return x;
}

static void give_back(struct http_server *server, struct exchange *x)
{
    (void)pthread_mutex_lock(&server->spare_lock);
    bool keep = server->n_spare < SPARE_MAX;
    if (keep) {
        x->next_ended = server->spare;
        server->spare = x;
        server->n_spare++;
    }
    (void)pthread_mutex_unlock(&server->spare_lock);
    if (!keep)
        free(x);
}

void exchange_free_spare(struct http_server *server)
{
    while (server->spare != NULL) {
        struct exchange *x = server->spare;
        server->spare = x->next_ended;
        free(x);
    }
}

struct exchange *exchange_create(struct http_server *server, struct client *client, const char *uri)
{
    struct exchange *x = allocate(server);
    if (x == NULL)
        return NULL;
    x->server = server;
    x->client = client;
    x->label = HTTP_LABEL_OTHER;
    x->connection = client->connection;
    atomic_init(&x->holders, 1);
    atomic_init(&x->state, JOB_NONE);
    arena_init(&x->arena, (size_t)server->config->request_memory_bytes_max);
    arena_init(&x->late_arena, 0);
    arena_init(&x->refusal_arena, 0);
    x->arena.account = &x->account;
    x->request.arena = &x->arena;
    x->started_ns = clock_monotonic_ns();
    x->request.deadline_ns =
        x->started_ns + (uint64_t)server->config->request_timeout_ms * 1000000u;
    if (resources_open(server->options.resources, RESOURCE_MEMORY, "", &x->account))
        x->target = arena_strdup(&x->arena, uri);
    if (x->target == NULL) {
        exchange_release(x, false);
        return NULL;
    }
    return x;
}

static void end_stream(struct exchange *x)
{
    if (!x->stream_open)
        return;
    x->stream_open = false;
    x->route->stream->end(x->server->options.context, x->stream);
}

static void end_source(struct exchange *x)
{
    const struct http_source *source = x->source;
    x->source = NULL;
    if (source != NULL)
        source->end(x->source_state);
}

static void end_orphan(void *argument)
{
    exchange_release(argument, true);
}

static void end_call(struct exchange *x)
{
    if (!x->state_made)
        return;
    x->state_made = false;
    if (x->route->call->end != NULL)
        x->route->call->end(x->request.state);
}

/* end() may wait for PostgreSQL, so it is no work for a server thread, nor for a compute worker. */
static void end_elsewhere(struct exchange *x)
{
    atomic_store(&x->holders, 1);
    const struct workers_job job = {
        .run = end_orphan, .argument = x, .owner = x->request.principal.team_id};
    if (workers_submit(x->server->io, &job) == WORKERS_ACCEPTED)
        return;
    (void)pthread_mutex_lock(&x->server->clients_lock);
    x->next_ended = x->server->orphans;
    x->server->orphans = x;
    (void)pthread_mutex_unlock(&x->server->clients_lock);
}

void exchange_retry_orphans(struct http_server *server)
{
    (void)pthread_mutex_lock(&server->clients_lock);
    struct exchange *list = server->orphans;
    server->orphans = NULL;
    (void)pthread_mutex_unlock(&server->clients_lock);
    while (list != NULL) {
        struct exchange *x = list;
        list = x->next_ended;
        end_elsewhere(x);
    }
}

void exchange_release(struct exchange *x, bool on_io)
{
    if (atomic_fetch_sub(&x->holders, 1) != 1)
        return;
    if ((x->stream_open || x->source != NULL) && !on_io) {
        end_elsewhere(x);
        return;
    }
    end_call(x);
    end_stream(x);
    end_source(x);
    arena_fini(&x->arena);
    arena_fini(&x->late_arena);
    arena_fini(&x->refusal_arena);
    resources_close(x->server->options.resources, &x->account);
    give_back(x->server, x);
}

bool exchange_only_reads(const struct exchange *x)
{
    const struct http_call *call = x->route->call;
    return call != NULL && call->only_reads != NULL && call->only_reads(&x->request);
}

const char *exchange_scope_name(const struct exchange *x)
{
    static const char *const names[] = {
        [HTTP_PUBLIC] = "", [HTTP_READ] = "read", [HTTP_WRITE] = "write", [HTTP_ADMIN] = "admin"};
    if (x->route == NULL)
        return "";
    return exchange_only_reads(x) ? "read" : names[x->route->access];
}

bool exchange_takes_line(struct exchange *x)
{
    struct http_server *server = x->server;
    if (x->authenticated || http_rate_take(&server->stranger_lines, clock_monotonic_ns()))
        return true;
    (void)atomic_fetch_add(&server->stranger_lines_cut, 1);
    metric_add(&lines_cut, 1, NULL);
    return false;
}

/* What went wrong inside is for the log; the client gets the request id to quote. */
void exchange_fail(struct exchange *x, const struct pv_error *err)
{
    struct http_challenge challenge = {.token_sent = x->token != NULL,
                                       .scope = exchange_scope_name(x)};
    unsigned status = http_status_of(err->code);
    if (status >= 500 && err->code != PV_E_NOT_IMPLEMENTED &&
        (status == 500 || exchange_takes_line(x)))
        LOG_EVENT(status == 500 ? LOG_ERROR : LOG_WARN, "http.failed", x->request.request_id,
                  LOG_TEXT("code", pv_code_name(err->code)), LOG_TEXT("detail", err->detail));
    x->failed = true;
    if (err->code == PV_E_INTERNAL) {
        struct pv_error outside = {.code = PV_E_INTERNAL};
        http_reply_problem(&x->request, &x->response, &outside, challenge);
        return;
    }
    http_reply_problem(&x->request, &x->response, err, challenge);
}

/* Too much memory for one request is the request's fault, not ours. */
static void blame_limit(const struct exchange *x, struct pv_error *err)
{
    if (!x->arena.limited)
        return;
    pv_error_clear(err);
    (void)pv_fail(err, PV_E_LIMIT, "the request needs more than %lld bytes of memory",
                  (long long)x->server->config->request_memory_bytes_max);
}

void exchange_refuse(struct exchange *x, enum http_refusal why)
{
    struct http_request plain = {.arena = &x->refusal_arena, .path = x->request.path};
    memcpy(plain.request_id, x->request.request_id, sizeof plain.request_id);
    x->failed = true;
    http_admission_refuse(&plain, &x->response, why, x->server->config);
}

void exchange_refuse_memory(struct exchange *x)
{
    exchange_refuse(x, !ledger_fits_alone(&x->account) ? HTTP_REFUSED_MEMORY_ALONE
                       : ledger_is_shared(&x->account) ? HTTP_REFUSED_MEMORY_SHARE
                                                       : HTTP_REFUSED_MEMORY);
}

static void fail_with(struct exchange *x, enum pv_code code, struct pv_error *err)
{
    if (code == PV_E_MEMORY && x->account.refused) {
        exchange_refuse_memory(x);
        return;
    }
    if (code == PV_E_MEMORY)
        blame_limit(x, err);
    if (err->code == PV_OK)
        err->code = code;
    exchange_fail(x, err);
}

void exchange_authenticate(struct exchange *x)
{
    struct pv_error err = {0};
    enum pv_code code = token_look_up(x->server, x->token, &x->request.principal, &err);
    if (code != PV_OK)
        fail_with(x, code, &err);
}

/* A handler that forgot to answer, or whose header values found no memory. */
static enum pv_code check_response(const struct http_response *response, struct pv_error *err)
{
    if (response->status == 0)
        return pv_fail(err, PV_E_INTERNAL, "the handler decided nothing");
    for (size_t i = 0; i < response->n_headers; i++)
        if (response->headers[i].value == NULL)
            return pv_no_memory(err);
    return PV_OK;
}

/* --- the steps of a call --- */

static bool is_worker(enum http_place place)
{
    return place == HTTP_IO || place == HTTP_COMPUTE;
}

/* A handler is a call of one step. run is NULL after the last. */
static struct http_step step_of(const struct exchange *x)
{
    const struct http_route *route = x->route;
    if (route->call != NULL)
        return route->call->steps[x->step];
    return (struct http_step){route->place, x->step == 0 ? route->handler : NULL};
}

enum http_place exchange_first_place(const struct exchange *x)
{
    const struct http_call *call = x->route->call;
    if (call == NULL)
        return x->route->place;
    if (call->steps[0].place == HTTP_BODY &&
        x->request.body_n > (size_t)x->server->config->inline_body_bytes)
        return HTTP_COMPUTE;
    for (const struct http_step *step = call->steps; step->run != NULL; step++)
        if (is_worker(step->place))
            return step->place;
    return call->begins_at == NULL ? HTTP_IO : call->begins_at(&x->request);
}

static bool is_to_repeat(const struct exchange *x, enum pv_code code)
{
    return code == PV_E_RETRY && x->request.again == HTTP_AGAIN_AT_ONCE;
}

/* x->next says whether the step is to be run again, by whom. */
static enum pv_code run_step(struct exchange *x, const struct http_step *step, struct pv_error *err)
{
    void *context = health_owns(x->route) ? (void *)x->server : x->server->options.context;
    const struct http_response before = x->response;
    struct arena_mark mark = arena_mark(&x->arena);
    enum pv_code code = PV_E_RETRY;
    x->request.again = HTTP_AGAIN_AT_ONCE;
    if (is_worker(step->place) && http_move(&x->request, step->place) != PV_OK) {
        x->next = x->request.again;
        return PV_E_RETRY;
    }
    for (unsigned attempt = 0; is_to_repeat(x, code) && attempt <= RETRIES; attempt++) {
        if (attempt > 0)
            clock_sleep_for_retry(attempt);
        arena_rewind(&x->arena, mark);
        pv_error_clear(err);
        x->response = before;
        code = step->run(context, &x->request, &x->response, err);
    }
    if (code == PV_E_RETRY)
        x->next = x->request.again;
    if (code == PV_OK)
        return PV_OK;
    x->response = before;
    arena_rewind(&x->arena, mark);
    return code;
}

static enum pv_code make_state(struct exchange *x, struct pv_error *err)
{
    const struct http_call *call = x->route->call;
    if (x->step > 0 || x->state_made)
        return PV_OK;
    x->mark = arena_mark(&x->arena);
    if (call == NULL || call->state_bytes == 0)
        return PV_OK;
    x->request.state = arena_calloc(&x->arena, 1, call->state_bytes);
    x->state_made = x->request.state != NULL;
    return x->state_made ? PV_OK : pv_no_memory(err);
}

/* Before a call begins: the effect of one whose ?fields= is refused must not happen. */
static enum pv_code read_fields(struct exchange *x, struct pv_error *err)
{
    struct http_request *request = &x->request;
    if (request->reply_members == NULL || request->selection != NULL)
        return PV_OK;
    return http_reply_fields_parse(http_query(request, "fields"), request->reply_members,
                                   (size_t)x->server->config->fields_max, &x->arena,
                                   &request->selection, err);
}

/* The source that makes the packed pieces ends the one that makes the plain ones. */
static enum pv_code pack_response(struct exchange *x, struct pv_error *err)
{
    enum pv_code code = http_reply_pack(&x->request, &x->response,
                                        (size_t)x->server->config->reply_pack_bytes_min, err);
    x->source = x->response.source;
    x->source_state = x->response.source_state;
    return code;
}

/* What an idempotency key keeps is the whole reply: it is selected from when it is replayed. */
static enum pv_code finish_response(struct exchange *x, struct pv_error *err)
{
    PV_TRY(check_response(&x->response, err));
    if (x->request.selection != NULL)
        PV_TRY(http_reply_fields_apply(x->request.selection, &x->arena, &x->response, err));
    return pack_response(x, err);
}

void exchange_handle(struct exchange *x)
{
    struct pv_error err = {0};
    enum pv_code code = make_state(x, &err);
    if (code == PV_OK)
        code = read_fields(x, &err);
    struct http_step step = step_of(x);
    while (code == PV_OK && x->response.status == 0 && step.run != NULL) {
        code = run_step(x, &step, &err);
        if (x->next != HTTP_AGAIN_AT_ONCE)
            return;
        x->step++;
        step = step_of(x);
    }
    end_call(x);
    if (code == PV_OK)
        code = finish_response(x, &err);
    if (code == PV_OK)
        return;
    end_source(x);
    arena_rewind(&x->arena, x->mark);
    fail_with(x, code, &err);
}

/* --- streams --- */

/* Its finish has one time for all of its turns. */
static bool has_time_of_its_own(const struct exchange *x)
{
    return x->job == exchange_stream_finish && x->route->stream->finish_ms != NULL;
}

/* Each job of an exchange that goes on for long has a time of its own. */
static void reset_deadline(struct exchange *x, exchange_job job)
{
    const struct http_stream *stream = job == exchange_stream_finish ? x->route->stream : NULL;
    int64_t ms = x->server->config->request_timeout_ms;
    if (stream != NULL && stream->finish_ms != NULL)
        ms = stream->finish_ms(x->server->options.context);
    x->request.deadline_ns = clock_monotonic_ns() + (uint64_t)ms * 1000000u;
}

/* The job of a stream that failed on a compute worker: its refusal is noted, then answered. */
static void note_refusal(struct exchange *x)
{
    struct pv_error err = *x->refusal_of_stream;
    x->route->stream->refused(x->server->options.context, x->stream, &err);
    fail_with(x, err.code, &err);
    end_stream(x);
}

/* Is the client to blame, and does the stream note that? */
static bool is_refusal(const struct exchange *x, enum pv_code code)
{
    return x->route->stream->refused != NULL && x->stream != NULL &&
           http_status_of(code) / 100 == 4;
}

/* Without memory for a copy of the error the refusal is answered, and not noted. */
static void fail_stream(struct exchange *x, enum pv_code code, struct pv_error *err)
{
    if (err->code == PV_OK)
        err->code = code;
    struct pv_error *kept = is_refusal(x, err->code) ? arena_alloc(&x->arena, sizeof *kept) : NULL;
    if (kept == NULL) {
        fail_with(x, code, err);
        end_stream(x);
        return;
    }
    *kept = *err;
    x->refusal_of_stream = kept;
    x->job = note_refusal;
    if (http_move(&x->request, HTTP_IO) == PV_OK)
        note_refusal(x);
    else
        x->next = x->request.again;
}

void exchange_stream_begin(struct exchange *x)
{
    struct pv_error err = {0};
    x->stream_open = true;
    enum pv_code code =
        x->route->stream->begin(x->server->options.context, &x->request, &x->stream, &err);
    if (code != PV_OK)
        fail_stream(x, code, &err);
}

static bool take_piece(struct exchange *x, struct pv_error *err)
{
    if (x->body_n == 0)
        return true;
    enum pv_code code =
        x->route->stream->piece(x->server->options.context, x->stream, x->body, x->body_n, err);
    x->body_n = 0;
    if (code == PV_OK)
        return true;
    fail_stream(x, code, err);
    return false;
}

void exchange_stream_piece(struct exchange *x)
{
    struct pv_error err = {0};
    (void)take_piece(x, &err);
}

void exchange_stream_finish(struct exchange *x)
{
    struct pv_error err = {0};
    if (!take_piece(x, &err))
        return;
    x->request.again = HTTP_AGAIN_AT_ONCE;
    enum pv_code code = x->route->stream->finish(x->server->options.context, &x->request, x->stream,
                                                 &x->response, &err);
    if (code == PV_E_RETRY && x->request.again == HTTP_AGAIN_MOVED) {
        x->next = HTTP_AGAIN_MOVED;
        return;
    }
    if (code == PV_OK)
        code = check_response(&x->response, &err);
    if (code == PV_OK)
        code = pack_response(x, &err);
    if (code != PV_OK)
        fail_stream(x, code, &err);
    else
        end_stream(x);
}

/* The head of the answer is gone: a failure is for the log, and for the client the cut. */
void exchange_source_next(struct exchange *x)
{
    struct pv_error err = {0};
    x->piece_at = x->piece_n = 0;
    x->request.again = HTTP_AGAIN_AT_ONCE;
    enum pv_code code = x->source->next(x->source_state, &x->piece, &x->piece_n, &err);
    if (code == PV_E_RETRY && x->request.again == HTTP_AGAIN_WOKEN) {
        x->next = HTTP_AGAIN_WOKEN;
        return;
    }
    if (code != PV_OK) {
        x->piece_n = 0;
        fail_with(x, code, &err);
    }
    if (x->piece_n == 0)
        end_source(x);
}

static void run_job(void *argument);
static void drop_job(void *argument);

static bool is_over(void *argument)
{
    struct exchange *x = argument;
    return atomic_load(&x->state) != JOB_RUNNING;
}

static struct workers *workers_at(const struct exchange *x, enum http_place place)
{
    if (health_owns(x->route)) /* in one step, so this is its connection's thread */
        return health_workers(x->client->listener, x->route);
    return place == HTTP_COMPUTE ? x->server->compute : x->server->io;
}

/*
 * The exchange's job at the place where the request is now, among those of its team. What a stream,
 * a reply or a call under way needs next is never dropped for others: the work that is done would be
 * lost.
 */
static struct workers_job make_job(struct exchange *x)
{
    bool begins = (x->job == exchange_handle && x->step == 0) || x->job == exchange_authenticate ||
                  x->job == exchange_stream_begin;
    return (struct workers_job){
        .run = run_job,
        .drop = begins ? drop_job : NULL,
        .goes_on = x->job == exchange_handle && x->step > 0,
        .is_over = is_over,
        .argument = x,
        .owner = x->job == exchange_authenticate ? x->presumed_team : x->request.principal.team_id,
        .cost_ns = http_costs_estimate(&x->server->costs, x->resource, &x->request, x->step)};
}

static enum workers_admission enqueue(struct exchange *x)
{
    const struct workers_job job = make_job(x);
    return workers_submit(workers_at(x, x->request.place), &job);
}

/* Other than WORKERS_ACCEPTED: not queued. Else the worker's hold goes with the job. */
static enum workers_admission go_on_elsewhere(struct exchange *x)
{
    enum http_place here = x->request.place;
    x->request.place = x->request.move_to;
    x->waiting_ns = clock_monotonic_ns();
    if (x->route->stream != NULL && !has_time_of_its_own(x)) {
        reset_deadline(x, x->job);
        atomic_store(&x->turn_ns, x->request.deadline_ns);
    }
    if (x->request.place != here)
        metric_add(&moves, 1, METRIC_LABELS(x->request.place == HTTP_COMPUTE ? "compute" : "io"));
    atomic_store(&x->taken, false);
    enum workers_admission admission = enqueue(x);
    if (admission == WORKERS_ACCEPTED)
        return admission;
    atomic_store(&x->taken, true);
    x->request.place = here;
    return admission;
}

/* What a stream holds may be the database's: only io workers end it, if not at once. */
static void refuse_to_move(struct exchange *x, enum workers_admission why)
{
    exchange_refuse(x, http_refusal_of(why));
    end_call(x);
    if (x->request.place == HTTP_IO)
        end_stream(x);
}

/*
 * true: whoever wakes it has the exchange now, which may be gone already. A stream counts as
 * standing in a queue, so that the sweeper ends it when its client has left; a reply is waited for
 * also by a client that has ended its sending side.
 */
static bool leave_parked(struct exchange *x)
{
    assert(atomic_load(&x->park) != PARK_NONE && "parked without a ticket");
    x->waiting_ns = clock_monotonic_ns();
    atomic_store(&x->taken, x->source == NULL);
    enum exchange_park expected = PARK_TICKET;
    if (atomic_compare_exchange_strong(&x->park, &expected, PARK_PARKED))
        return true;
    atomic_store(&x->park, PARK_NONE);
    atomic_store(&x->taken, true);
    return false;
}

static void run_turn(struct exchange *x)
{
    uint64_t from_ns = clock_monotonic_ns();
    size_t step = x->step;
    uint64_t faults = duty_own_faults();
    x->next = HTTP_AGAIN_AT_ONCE;
    x->job(x);
    if (duty_own_faults() != faults)
        LOG_EVENT(LOG_WARN, "http.misplaced", x->request.request_id,
                  LOG_TEXT("route", x->route->template),
                  LOG_TEXT("place", x->request.place == HTTP_COMPUTE ? "compute" : "io"),
                  LOG_COUNT("step", step), LOG_COUNT("count", duty_own_faults() - faults));
    if (x->job == exchange_handle)
        http_costs_learn(&x->server->costs, x->resource, &x->request, step, x->request.place,
                         clock_monotonic_ns() - from_ns);
}

/* true: another worker has the job now. A further turn that finds the queue full is taken at once:
 * the work of those before it would be lost. */
static bool run_turns(struct exchange *x)
{
    while (atomic_load(&x->state) == JOB_RUNNING) {
        run_turn(x);
        switch (x->next) {
        case HTTP_AGAIN_AT_ONCE:
            return false;
        case HTTP_AGAIN_WOKEN:
            if (leave_parked(x))
                return true;
            break;
        case HTTP_AGAIN_MOVED: {
            bool stays = x->request.move_to == x->request.place;
            enum workers_admission admission = go_on_elsewhere(x);
            if (admission == WORKERS_ACCEPTED)
                return true;
            if (!stays) {
                refuse_to_move(x, admission);
                return false;
            }
        }
        }
    }
    return false;
}

static void run_job(void *argument)
{
    struct exchange *x = argument;
    atomic_store(&x->taken, true);
    if (run_turns(x))
        return;
    bool on_io = x->request.place == HTTP_IO;
    struct client *client = x->client;
    bool body_goes_on = x->body_goes_on;
    enum exchange_state expected = JOB_RUNNING;
    if (atomic_compare_exchange_strong(&x->state, &expected, JOB_DONE))
        client_resume(client, body_goes_on); /* suspended until here, hence still there */
    exchange_release(x, on_io);
}

/* Somebody else's job has taken its place in the queue. */
static void drop_job(void *argument)
{
    struct exchange *x = argument;
    struct client *client = x->client;
    bool body_goes_on = x->body_goes_on;
    enum exchange_state expected = JOB_RUNNING;
    atomic_store(&x->refusal, HTTP_REFUSED_QUEUE_SHARE);
    if (atomic_compare_exchange_strong(&x->state, &expected, JOB_REFUSED))
        client_resume(client, body_goes_on); /* suspended until here, hence still there */
    exchange_release(x, false);
}

bool exchange_take_up(struct exchange *x)
{
    atomic_store(&x->park, PARK_NONE);
    if (enqueue(x) == WORKERS_ACCEPTED)
        return true;
    atomic_store(&x->park, PARK_PARKED);
    return false;
}

/* The server stops: nothing may be suspended any more. */
static void refuse_stopping(struct exchange *x)
{
    struct pv_error err = {.retry_after_s = 1};
    (void)pv_fail(&err, PV_E_UNAVAILABLE, "the service is shutting down");
    exchange_fail(x, &err);
}

/* Most of those that are refused are so here: to suspend a connection and to resume it costs more
 * system calls than to read a request and to answer it. */
static bool refuse_at_once(struct exchange *x)
{
    const struct workers_job job = make_job(x);
    if (job.drop == NULL)
        return false;
    enum workers_admission admission = workers_would_accept(workers_at(x, x->request.place), &job);
    if (admission != WORKERS_ACCEPTED)
        exchange_refuse(x, http_refusal_of(admission));
    return admission != WORKERS_ACCEPTED;
}

bool exchange_submit(struct exchange *x, enum http_place place, exchange_job job)
{
    struct http_server *server = x->server;
    x->job = job;
    x->request.place = place;
    if (refuse_at_once(x))
        return false;
    (void)atomic_fetch_add(&server->suspended, 1);
    if (atomic_load(&server->stopping)) {
        (void)atomic_fetch_sub(&server->suspended, 1);
        refuse_stopping(x);
        return false;
    }
    if (x->route->stream != NULL || x->source != NULL)
        reset_deadline(x, job);
    x->body_goes_on =
        x->stage == STAGE_BODY || x->stage == STAGE_PIECE || x->stage == STAGE_FILLING;
    x->waiting_ns = clock_monotonic_ns();
    atomic_store(&x->taken, false);
    atomic_store(&x->state, JOB_RUNNING);
    (void)atomic_fetch_add(&x->holders, 1);
    struct client *client = x->client;
    MHD_suspend_connection(client->connection);
    client_enter(client, CLIENT_WORKING, x->request.deadline_ns);
    enum workers_admission admission = enqueue(x);
    if (admission == WORKERS_ACCEPTED)
        return true;
    enum exchange_state expected = JOB_RUNNING;
    atomic_store(&x->refusal, http_refusal_of(admission));
    if (atomic_compare_exchange_strong(&x->state, &expected, JOB_REFUSED))
        client_resume(client, x->body_goes_on);
    exchange_release(x, false);
    return true;
}
