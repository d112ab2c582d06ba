/*
 * A server with a few routes of its own and no database, for tests/api/test_http_*.py. Settings
 * come as --name=value like provisord's. Prints "port N" when it listens; SIGTERM drains it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json_writer.h"
#include "http/etag.h"
#include "http/server.h"
#include "log/log.h"

static atomic_int begun, pieces, finished, ended, handled, attempts;

static enum pv_code reply(struct http_response *response, struct writer *w, struct pv_error *err)
{
    response->body = writer_finish(w, &response->body_n);
    if (response->body == NULL)
        return pv_no_memory(err);
    response->status = 200;
    return PV_OK;
}

static enum pv_code echo(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *e)
{
    (void)context;
    atomic_fetch_add(&handled, 1);
    struct writer w;
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    writer_member_string(&w, "path", request->path);
    writer_member_string(&w, "team", request->principal.team_id);
    writer_member_integer(&w, "body_bytes", (int64_t)request->body_n);
    for (size_t i = 0; i < request->n_path_parameters; i++)
        writer_member_string(&w, request->path_parameters[i].name,
                             request->path_parameters[i].value);
    writer_key(&w, "query");
    writer_begin_object(&w);
    for (size_t i = 0; i < request->n_query; i++)
        writer_member_string(&w, request->query[i].name, request->query[i].value);
    writer_end_object(&w);
    writer_end_object(&w);
    return reply(response, &w, e);
}

static void sleep_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    (void)nanosleep(&pause, NULL);
}

static enum pv_code slow(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *e)
{
    const char *text = http_query(request, "ms");
    sleep_ms(text == NULL ? 0 : strtol(text, NULL, 10));
    return echo(context, request, response, e);
}

static enum pv_code again(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err)
{
    if (atomic_fetch_add(&attempts, 1) % 3 != 2)
        return pv_fail(err, PV_E_RETRY, "not yet");
    return echo(context, request, response, err);
}

static enum pv_code fail(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *e)
{
    (void)context;
    (void)response;
    const char *name = http_query(request, "code");
    for (int code = PV_E_MEMORY; code < PV_CODE_COUNT; code++)
        if (name != NULL && strcmp(name, pv_code_name((enum pv_code)code)) == 0)
            return pv_fail(e, (enum pv_code)code, "as asked: SELECT secret");
    (void)pv_fault(e, PV_PLACE_POINTER, "/jobs/0/name", "required", "must be there");
    return pv_fault(e, PV_PLACE_PARAMETER, "code", "unknown", "no such code");
}

/* Takes more than a request may. */
static enum pv_code
eat(void *context, struct http_request *request, struct http_response *response, struct pv_error *e)
{
    while (arena_alloc(request->arena, 100000) != NULL)
        ;
    (void)context;
    (void)response;
    return pv_no_memory(e);
}

/* Takes so many bytes for so many ms; answers with as many. */
static enum pv_code hold(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *e)
{
    const char *ms = http_query(request, "ms"), *bytes = http_query(request, "bytes");
    size_t n = bytes == NULL ? 0 : (size_t)strtoul(bytes, NULL, 10);
    char *body = arena_alloc(request->arena, n);
    (void)context;
    if (body == NULL)
        return pv_no_memory(e);
    memset(body, ' ', n);
    sleep_ms(ms == NULL ? 0 : strtol(ms, NULL, 10));
    *response = (struct http_response){.status = 200, .body = body, .body_n = n};
    return PV_OK;
}

static enum pv_code tagged(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *e)
{
    char tag[HTTP_ETAG_TEXT];
    http_etag_format(7, tag);
    if (http_if_match(request, tag) == HTTP_MATCH_NO)
        return pv_fail(e, PV_E_PRECONDITION, "it has changed");
    enum pv_code code = echo(context, request, response, e);
    http_response_header(request, response, "ETag", tag);
    if (http_none_match_holds(request, tag))
        http_reply_not_modified(response);
    return code;
}

static enum pv_code counters(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    (void)context;
    struct writer w;
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    writer_member_integer(&w, "begun", atomic_load(&begun));
    writer_member_integer(&w, "pieces", atomic_load(&pieces));
    writer_member_integer(&w, "finished", atomic_load(&finished));
    writer_member_integer(&w, "ended", atomic_load(&ended));
    writer_member_integer(&w, "handled", atomic_load(&handled));
    writer_end_object(&w);
    return reply(response, &w, err);
}

struct upload {
    size_t bytes;
    size_t fail_at;
    long piece_ms;
};

static enum pv_code
upload_begin(void *context, struct http_request *request, void **state, struct pv_error *err)
{
    (void)context;
    atomic_fetch_add(&begun, 1);
    if (http_query(request, "refuse") != NULL)
        return pv_fail(err, PV_E_CONFLICT, "refused before a byte was read");
    struct upload *upload = arena_calloc(request->arena, 1, sizeof *upload);
    if (upload == NULL)
        return pv_no_memory(err);
    const char *at = http_query(request, "fail_at");
    const char *ms = http_query(request, "piece_ms");
    upload->fail_at = at == NULL ? SIZE_MAX : strtoul(at, NULL, 10);
    upload->piece_ms = ms == NULL ? 0 : strtol(ms, NULL, 10);
    *state = upload;
    return PV_OK;
}

static enum pv_code
upload_piece(void *context, void *state, const char *bytes, size_t n, struct pv_error *err)
{
    struct upload *upload = state;
    (void)context;
    (void)bytes;
    atomic_fetch_add(&pieces, 1);
    sleep_ms(upload->piece_ms);
    upload->bytes += n;
    if (upload->bytes >= upload->fail_at)
        return pv_fail(err, PV_E_INVALID, "the upload is not what it should be");
    return PV_OK;
}

static enum pv_code upload_finish(void *context,
                                  struct http_request *request,
                                  void *state,
                                  struct http_response *response,
                                  struct pv_error *err)
{
    const struct upload *upload = state;
    (void)context;
    atomic_fetch_add(&finished, 1);
    struct writer w;
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    writer_member_integer(&w, "bytes", (int64_t)upload->bytes);
    writer_end_object(&w);
    return reply(response, &w, err);
}

static void upload_end(void *context, void *state)
{
    (void)context;
    (void)state;
    atomic_fetch_add(&ended, 1);
}

static const struct http_stream upload_stream = {upload_begin, upload_piece, upload_finish,
                                                 upload_end, .finish_ms = NULL};

static const struct http_route routes[] = {
    {HTTP_GET, "/v1/echo/{name}", HTTP_READ, HTTP_IO, echo, NULL, false, NULL, NULL},
    {HTTP_PUT, "/v1/echo/{name}", HTTP_WRITE, HTTP_IO, echo, NULL, true, NULL, NULL},
    {HTTP_PATCH, "/v1/echo/{name}", HTTP_WRITE, HTTP_IO, echo, NULL, true, NULL, NULL},
    {HTTP_DELETE, "/v1/echo/{name}", HTTP_ADMIN, HTTP_IO, echo, NULL, false, NULL, NULL},
    {HTTP_GET, "/v1/echo/{name}/runs/{id}", HTTP_PUBLIC, HTTP_INLINE, echo, NULL, false, NULL,
     NULL},
    {HTTP_GET, "/v1/echo/{name}/runs/export", HTTP_PUBLIC, HTTP_INLINE, tagged, NULL, false, NULL,
     NULL},
    {HTTP_GET, "/v1/inline", HTTP_PUBLIC, HTTP_INLINE, echo, NULL, false, NULL, NULL},
    {HTTP_POST, "/v1/json", HTTP_PUBLIC, HTTP_COMPUTE, echo, NULL, true, NULL, NULL},
    {HTTP_GET, "/v1/slow", HTTP_PUBLIC, HTTP_COMPUTE, slow, NULL, false, NULL, NULL},
    {HTTP_GET, "/v1/slow/{name}", HTTP_READ, HTTP_COMPUTE, slow, NULL, false, NULL, NULL},
    {HTTP_GET, "/v1/wait/{name}", HTTP_READ, HTTP_IO, slow, NULL, false, NULL, NULL},
    {HTTP_GET, "/v1/again", HTTP_PUBLIC, HTTP_IO, again, NULL, false, NULL, NULL},
    {HTTP_GET, "/v1/fail", HTTP_PUBLIC, HTTP_IO, fail, NULL, false, NULL, NULL},
    {HTTP_GET, "/v1/eat", HTTP_PUBLIC, HTTP_IO, eat, NULL, false, NULL, NULL},
    {HTTP_GET, "/v1/hold/{name}", HTTP_READ, HTTP_COMPUTE, hold, NULL, false, NULL, NULL},
    {HTTP_GET, "/v1/tagged", HTTP_READ, HTTP_INLINE, tagged, NULL, false, NULL, NULL},
    {HTTP_GET, "/v1/counters", HTTP_PUBLIC, HTTP_INLINE, counters, NULL, false, NULL, NULL},
    {HTTP_POST, "/v1/upload", HTTP_PUBLIC, HTTP_IO, NULL, &upload_stream, true, NULL, NULL},
    {HTTP_POST, "/v1/private-upload", HTTP_WRITE, HTTP_IO, NULL, &upload_stream, true, NULL, NULL},
    {.template = NULL},
};

static enum pv_code
authenticate(void *context, const char *token, struct principal *who, struct pv_error *err)
{
    (void)context;
    if (strncmp(token, "prv_", 4) != 0)
        return pv_fail(err, PV_E_UNAUTHENTICATED, "the token is not known");
    if (strstr(token, "slow") != NULL)
        sleep_ms(100);
    (void)snprintf(who->team_id, sizeof who->team_id, "team-of-%.20s", token + 4);
    who->scopes = SCOPE_READ | (strstr(token, "write") != NULL ? SCOPE_WRITE : 0u);
    return PV_OK;
}

int main(int argc, char *argv[])
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);

    struct config config;
    struct pv_error err = {0};
    struct http_server *server = NULL;
    if (config_read(NULL, argc - 1, argv + 1, &config, &err) != PV_OK) {
        fprintf(stderr, "%s\n", err.detail);
        return 2;
    }
    enum log_level level = LOG_INFO;
    if (log_level_parse(config.log_level, &level))
        log_set_level(level);
    struct resources resources;
    resources_init(&resources, &config);
    const struct http_server_options options = {
        .config = &config, .resources = &resources, .routes = routes, .authenticate = authenticate};
    if (http_server_open(&options, &server, &err) != PV_OK) {
        fprintf(stderr, "%s\n", err.detail);
        return 1;
    }
    printf("port %u\n", (unsigned)http_server_port(server));
    (void)fflush(stdout);
    int which;
    (void)sigwait(&signals, &which);
    http_server_drain(server);
    http_server_close(server);
    resources_fini(&resources);
    printf("begun %d ended %d\n", atomic_load(&begun), atomic_load(&ended));
    return 0;
}
