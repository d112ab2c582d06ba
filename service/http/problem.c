#include "http/problem.h"

#include <stdio.h>

#include "base/fault_text.h"
#include "base/instant.h"
#include "base/json_writer.h"
#include "metrics/registry.h"

METRIC_COUNTER(quota_refusals,
               "provisor_quota_refusals_total",
               "Requests refused because the team would store more than a quota allows.",
               "quota");

enum { SUMMARY_MAX = 4096 }; /* bytes of a `detail` that speaks of several faults */

unsigned http_status_of(enum pv_code code)
{
    switch (code) {
    case PV_OK:
        return 200;
    case PV_E_SYNTAX:
        return 400;
    case PV_E_UNAUTHENTICATED:
        return 401;
    case PV_E_FORBIDDEN:
        return 403;
    case PV_E_NOT_FOUND:
        return 404;
    case PV_E_METHOD:
        return 405;
    case PV_E_CONFLICT:
    case PV_E_CAPACITY:
        return 409;
    case PV_E_GONE:
        return 410;
    case PV_E_PRECONDITION:
        return 412;
    case PV_E_TOO_LARGE:
        return 413;
    case PV_E_MEDIA_TYPE:
        return 415;
    case PV_E_EXPECTATION:
        return 417;
    case PV_E_INVALID:
    case PV_E_DOMAIN:
    case PV_E_TOO_FEW:
    case PV_E_SINGULAR:
    case PV_E_LIMIT:
    case PV_E_STORAGE:
        return 422;
    case PV_E_QUOTA:
        return 429;
    case PV_E_HEADERS:
        return 431;
    case PV_E_MEMORY:
    case PV_E_INTERNAL:
        return 500;
    case PV_E_NOT_IMPLEMENTED:
        return 501;
    case PV_E_TIMEOUT:
    case PV_E_RETRY:
    case PV_E_UNAVAILABLE:
    case PV_E_CANCELLED:
    case PV_E_LEASE_LOST:
    case PV_E_ABANDONED:
    case PV_E_LOST:
        return 503;
    }
    return 500;
}

static void write_fault(struct writer *w, const struct pv_fault *fault)
{
    static const char *const members[] = {
        [PV_PLACE_POINTER] = "pointer",
        [PV_PLACE_PARAMETER] = "parameter",
        [PV_PLACE_HEADER] = "header",
    };
    writer_begin_object(w);
    writer_member_string(w, members[fault->place], fault->at);
    writer_member_string(w, "detail", fault->detail);
    writer_member_string(w, "code", fault->code);
    writer_end_object(w);
}

static void write_faults(struct writer *w, const struct pv_error *err)
{
    if (err->n_faults == 0)
        return;
    size_t kept = err->n_faults < PV_FAULTS_MAX ? err->n_faults : PV_FAULTS_MAX;
    writer_key(w, "errors");
    writer_begin_array(w);
    for (size_t i = 0; i < kept; i++)
        write_fault(w, &err->faults[i]);
    writer_end_array(w);
    if (kept < err->n_faults)
        writer_member_integer(w, "errors_total", (int64_t)err->n_faults);
}

/* Which quota it was, for programs. */
static void write_quota(struct writer *w, const struct pv_quota *quota)
{
    if (quota->name[0] == '\0')
        return;
    writer_key(w, "quota");
    writer_begin_object(w);
    writer_member_string(w, "name", quota->name);
    writer_member_integer(w, "limit", quota->limit);
    writer_member_integer(w, "needed", quota->needed);
    writer_end_object(w);
}

static void write_bytes(struct writer *w, const char *key, int64_t bytes)
{
    writer_key(w, key);
    if (bytes < 0)
        writer_null(w);
    else
        writer_integer(w, bytes);
}

/* What there is instead of what was asked for, for programs. */
static void write_room(struct writer *w, const struct pv_room *room)
{
    char earliest[INSTANT_TEXT];
    if (!room->given)
        return;
    writer_key(w, "available");
    writer_begin_object(w);
    writer_member_number(w, "cores", room->cores);
    write_bytes(w, "memory_bytes", room->memory_bytes);
    writer_member_number(w, "cores_now", room->cores_now);
    write_bytes(w, "memory_bytes_now", room->memory_bytes_now);
    writer_key(w, "earliest_starts_at");
    if (room->earliest_us == INSTANT_UNKNOWN) {
        writer_null(w);
    } else {
        instant_format(room->earliest_us, earliest);
        writer_string(w, earliest);
    }
    writer_end_object(w);
}

static void write_fault_sentence(const struct pv_fault *fault, char *out, size_t room)
{
    char name[FAULT_NAME_MAX];
    fault_name_place(fault->place, fault->at, name);
    fault_write_sentence(name, fault->detail, out, room);
}

/* All faults in sentences that name their places; several are counted, as far as there is room. */
static const char *summarize_faults(const struct pv_error *err, char text[SUMMARY_MAX])
{
    char sentence[FAULT_SENTENCE_MAX];
    if (err->n_faults == 1) {
        write_fault_sentence(&err->faults[0], text, SUMMARY_MAX);
        return text;
    }
    size_t kept = err->n_faults < PV_FAULTS_MAX ? err->n_faults : PV_FAULTS_MAX;
    int n = snprintf(text, SUMMARY_MAX, "%zu faults: ", err->n_faults);
    for (size_t i = 0; i < kept; i++) {
        size_t room = SUMMARY_MAX - (size_t)n;
        write_fault_sentence(&err->faults[i], sentence, sizeof sentence);
        int more = snprintf(text + n, room, "%s%s", i == 0 ? "" : "; ", sentence);
        if ((size_t)more >= room) {
            text[n] = '\0';
            break;
        }
        n += more;
    }
    return text;
}

const char *http_problem_write(struct arena *arena,
                               unsigned status,
                               const struct pv_error *err,
                               const char *instance,
                               const char *request_id,
                               size_t *n)
{
    char type[64];
    (void)snprintf(type, sizeof type, "/problems/%s", pv_code_name(err->code));
    char summary[SUMMARY_MAX];
    const char *detail = err->detail;
    if (detail[0] == '\0')
        detail = err->n_faults > 0 ? summarize_faults(err, summary) : pv_code_text(err->code);

    struct writer w;
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_member_string(&w, "type", type);
    writer_member_string(&w, "title", pv_code_text(err->code));
    writer_member_integer(&w, "status", (int64_t)status);
    writer_member_string(&w, "detail", detail);
    if (instance != NULL)
        writer_member_string(&w, "instance", instance);
    if (request_id != NULL && request_id[0] != '\0')
        writer_member_string(&w, "request_id", request_id);
    write_quota(&w, &err->quota);
    write_room(&w, &err->room);
    write_faults(&w, err);
    writer_end_object(&w);
    return writer_finish(&w, n);
}

static bool about_coding(const struct pv_error *err)
{
    return err->n_faults > 0 && err->faults[0].place == PV_PLACE_HEADER &&
           strcmp(err->faults[0].at, "Content-Encoding") == 0;
}

/* The field values below are static or in the caller's arena; one that does not fit there is left
 * out rather than failing the whole answer. */
static void
add_text(struct http_request *request, struct http_response *r, const char *name, const char *value)
{
    const char *copy = arena_strdup(request->arena, value);
    if (copy != NULL)
        r->headers[r->n_headers++] = (struct http_header){name, copy};
}

static void add_challenge(struct http_request *request,
                          struct http_response *response,
                          unsigned status,
                          struct http_challenge challenge)
{
    char value[128];
    if (status == 401)
        (void)snprintf(value, sizeof value, "Bearer realm=\"provisor\"%s",
                       challenge.token_sent ? ", error=\"invalid_token\"" : "");
    else
        (void)snprintf(value, sizeof value, "Bearer error=\"insufficient_scope\", scope=\"%s\"",
                       challenge.scope == NULL ? "admin" : challenge.scope);
    add_text(request, response, "WWW-Authenticate", value);
}

/* Draft "RateLimit header fields for HTTP": nothing is left until something is given back. */
static void
add_limit(struct http_request *request, struct http_response *response, const struct pv_error *err)
{
    char text[96];
    (void)snprintf(text, sizeof text, "\"%s\";q=%lld;qu=\"%s\"", err->limit,
                   (long long)err->limit_most, err->limit_unit);
    add_text(request, response, "RateLimit-Policy", text);
    (void)snprintf(text, sizeof text, "\"%s\";r=0;t=%u", err->limit, err->retry_after_s);
    add_text(request, response, "RateLimit", text);
}

static void add_headers(struct http_request *request,
                        struct http_response *response,
                        const struct pv_error *err,
                        struct http_challenge challenge)
{
    if (response->status == 401 || response->status == 403)
        add_challenge(request, response, response->status, challenge);
    if (response->status == 405)
        add_text(request, response, "Allow", err->allow);
    if (response->status == 415 && about_coding(err))
        add_text(request, response, "Accept-Encoding", "identity");
    else if (response->status == 415)
        add_text(request, response, "Accept",
                 err->allow[0] != '\0' ? err->allow : "application/json");
    if (response->status == 429 && err->limit[0] != '\0')
        add_limit(request, response, err);
    if (response->status == 503 || err->retry_after_s > 0) {
        char seconds[16];
        (void)snprintf(seconds, sizeof seconds, "%u",
                       err->retry_after_s > 0 ? err->retry_after_s : 1);
        add_text(request, response, "Retry-After", seconds);
    }
}

void http_reply_problem(struct http_request *request,
                        struct http_response *response,
                        const struct pv_error *err,
                        struct http_challenge challenge)
{
    static const char bare[] = "{\"type\":\"about:blank\",\"detail\":\"not enough memory for a "
                               "longer answer\"}";
    *response = (struct http_response){.status = http_status_of(err->code)};
    if (err->quota.name[0] != '\0')
        metric_add(&quota_refusals, 1, METRIC_LABELS(err->quota.name));
    response->content_type = "application/problem+json";
    response->body = http_problem_write(request->arena, response->status, err, request->path,
                                        request->request_id, &response->body_n);
    if (response->body == NULL) {
        response->body = bare;
        response->body_n = sizeof bare - 1;
    }
    add_headers(request, response, err, challenge);
}
