#include "http/problem.h"

#include <criterion/criterion.h>

static struct arena arena;
static struct http_request request;

static void open_request(void)
{
    arena_init(&arena, 0);
    request = (struct http_request){.arena = &arena, .path = "/v1/x"};
    (void)strcpy(request.request_id, "r-1");
}

TestSuite(problem, .init = open_request, .timeout = 5);

static const char *header(const struct http_response *response, const char *name)
{
    for (size_t i = 0; i < response->n_headers; i++)
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return "(none)";
}

static struct http_response answer(const struct pv_error *err, bool token_sent, const char *scope)
{
    struct http_response response;
    http_reply_problem(&request, &response, err,
                       (struct http_challenge){.token_sent = token_sent, .scope = scope});
    return response;
}

/* A code without a status of its own would be answered by the 500 of the fallback. */
Test(problem, every_code_has_a_status)
{
    for (int code = 0; code < PV_CODE_COUNT; code++) {
        unsigned status = http_status_of((enum pv_code)code);
        if (code == PV_OK)
            cr_assert_eq(status, 200);
        else
            cr_assert(status >= 400 && status < 600, "%s", pv_code_name((enum pv_code)code));
        if (status == 500)
            cr_assert(code == PV_E_MEMORY || code == PV_E_INTERNAL);
    }
}

Test(problem, writes_all_members)
{
    struct pv_error err = {0};
    (void)pv_fault(&err, PV_PLACE_POINTER, "/jobs/0/name", "required", "must be there");
    (void)pv_fault(&err, PV_PLACE_HEADER, "If-Match", "bad", "no tag");
    struct http_response response = answer(&err, false, NULL);
    cr_assert_eq(response.status, 422);
    cr_assert_str_eq(response.content_type, "application/problem+json");
    cr_assert_str_eq(
        response.body,
        "{\"type\":\"/problems/invalid\",\"title\":\"the request is well-formed but not valid\","
        "\"status\":422,\"detail\":\"2 faults: jobs[0].name must be there; If-Match: no tag\","
        "\"instance\":\"/v1/x\",\"request_id\":\"r-1\",\"errors\":[{\"pointer\":\"/jobs/0/"
        "name\",\"detail\":\"must be "
        "there\",\"code\":\"required\"},{\"header\":\"If-Match\",\"detail\":\"no "
        "tag\",\"code\":\"bad\"}]}");
}

Test(problem, says_how_many_faults_it_left_out)
{
    struct pv_error err = {0};
    for (int i = 0; i < PV_FAULTS_MAX + 3; i++)
        (void)pv_fault(&err, PV_PLACE_POINTER, "/a", "required", "must be there");
    cr_assert_not_null(strstr(answer(&err, false, NULL).body, "\"errors_total\":11"));
}

Test(problem, carries_the_headers_of_its_status)
{
    struct pv_error err = {.code = PV_E_UNAUTHENTICATED};
    struct http_response r = answer(&err, false, "read");
    cr_assert_str_eq(header(&r, "WWW-Authenticate"), "Bearer realm=\"provisor\"");
    r = answer(&err, true, "read");
    cr_assert_str_eq(header(&r, "WWW-Authenticate"),
                     "Bearer realm=\"provisor\", error=\"invalid_token\"");
    err.code = PV_E_FORBIDDEN;
    r = answer(&err, true, "write");
    cr_assert_str_eq(header(&r, "WWW-Authenticate"),
                     "Bearer error=\"insufficient_scope\", scope=\"write\"");
    err = (struct pv_error){.code = PV_E_UNAVAILABLE};
    r = answer(&err, false, NULL);
    cr_assert_str_eq(header(&r, "Retry-After"), "1");
    err.retry_after_s = 7;
    r = answer(&err, false, NULL);
    cr_assert_str_eq(header(&r, "Retry-After"), "7");
    err = (struct pv_error){.code = PV_E_METHOD, .allow = "GET, HEAD"};
    r = answer(&err, false, NULL);
    cr_assert_str_eq(header(&r, "Allow"), "GET, HEAD");
    err = (struct pv_error){0};
    (void)pv_fail(&err, PV_E_MEDIA_TYPE, "no");
    r = answer(&err, false, NULL);
    cr_assert_str_eq(header(&r, "Accept"), "application/json");
    (void)pv_fault(&err, PV_PLACE_HEADER, "Content-Encoding", "unsupported", "no");
    r = answer(&err, false, NULL);
    cr_assert_str_eq(header(&r, "Accept-Encoding"), "identity");
    cr_assert_str_eq(header(&r, "Accept"), "(none)");
}

Test(problem, answers_without_memory_too)
{
    struct arena none;
    arena_init(&none, 1);
    request.arena = &none;
    struct pv_error err = {.code = PV_E_MEMORY};
    struct http_response response = answer(&err, false, NULL);
    cr_assert_eq(response.status, 500);
    cr_assert_gt(response.body_n, 0);
    cr_assert_eq(strlen(response.body), response.body_n);
}
