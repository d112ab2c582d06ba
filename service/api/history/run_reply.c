#include "api/history/run_reply.h"

#include "api/shared/reply.h"
#include "codec/history/run.h"

enum pv_code api_reply_run(struct http_request *request,
                           struct http_response *response,
                           unsigned status,
                           const struct run *run,
                           struct strview application,
                           unsigned include,
                           struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    codec_run_encode(&w, run, application, include);
    return api_reply(response, status, &w, err);
}

enum pv_code api_reply_run_location(struct http_request *request,
                                    struct http_response *response,
                                    const struct run *run,
                                    struct strview application,
                                    struct pv_error *err)
{
    struct arena *arena = request->arena;
    const char *name = arena_strndup(arena, application.at, application.n);
    name = name == NULL ? NULL : api_percent_encode(arena, name);
    const char *location =
        name == NULL ? NULL : arena_printf(arena, "/v1/applications/%s/runs/%s", name, run->id);
    if (location == NULL)
        return pv_no_memory(err);
    http_response_header(request, response, "Location", location);
    return PV_OK;
}
