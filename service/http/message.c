#include "http/message.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"

enum pv_code http_move(struct http_request *request, enum http_place place)
{
    if (request->place == place)
        return PV_OK;
    request->again = HTTP_AGAIN_MOVED;
    request->move_to = place;
    return PV_E_RETRY;
}

enum pv_code http_turn(struct http_request *request)
{
    request->again = HTTP_AGAIN_MOVED;
    request->move_to = HTTP_COMPUTE;
    return PV_E_RETRY;
}

const char *http_path_parameter(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->n_path_parameters; i++)
        if (strcmp(request->path_parameters[i].name, name) == 0)
            return request->path_parameters[i].value;
    assert(false && "the template has no such parameter");
    return "";
}

const char *http_query(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->n_query; i++)
        if (strcmp(request->query[i].name, name) == 0)
            return request->query[i].value;
    return NULL;
}

const char *http_header(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->n_headers; i++)
        if (strcasecmp(request->headers[i].name, name) == 0)
            return request->headers[i].value;
    return NULL;
}

/* More than any call has; only so many are looked through for what was meant. */
enum { HTTP_PARAMETER_WORDS = 32 };

/* "label*" stands for a parameter that may repeat. */
static bool is_allowed(const char *name, const char *const allowed[], bool *repeats)
{
    for (; *allowed != NULL; allowed++) {
        size_t n = strlen(*allowed);
        *repeats = n > 0 && (*allowed)[n - 1] == '*';
        if (*repeats)
            n--;
        if (strlen(name) == n && strncmp(name, *allowed, n) == 0)
            return true;
    }
    return false;
}

/* Of calls whose replies can be selected from. */
static bool is_fields(const struct http_request *request, const char *name)
{
    return request->reply_members != NULL && strcmp(name, "fields") == 0;
}

static bool was_there(const struct http_request *request, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(request->query[k].name, request->query[i].name) == 0)
            return true;
    return false;
}

static enum pv_code
refuse_parameter(const char *name, const char *const allowed[], struct pv_error *err)
{
    char words[HTTP_PARAMETER_WORDS][NEAREST_LENGTH_MAX + 1];
    struct nearest nearest = {.word = NULL};
    for (size_t i = 0; allowed[i] != NULL && i < HTTP_PARAMETER_WORDS; i++) {
        (void)snprintf(words[i], sizeof words[i], "%.*s", (int)strcspn(allowed[i], "*"),
                       allowed[i]);
        nearest_try(&nearest, name, words[i]);
    }
    bool near = nearest.word != NULL;
    return pv_fault(err, PV_PLACE_PARAMETER, name, "unknown_parameter",
                    "this call has no such query parameter%s%s%s", near ? "; did you mean " : "",
                    near ? nearest.word : "", near ? "?" : "");
}

enum pv_code http_check_query(const struct http_request *request,
                              const char *const allowed[],
                              struct pv_error *err)
{
    enum pv_code code = PV_OK;
    for (size_t i = 0; i < request->n_query; i++) {
        const char *name = request->query[i].name;
        bool repeats = false;
        if (!is_allowed(name, allowed, &repeats) && !is_fields(request, name))
            code = refuse_parameter(name, allowed, err);
        else if (!repeats && was_there(request, i))
            code = pv_fault(err, PV_PLACE_PARAMETER, name, "repeated", "may be given only once");
    }
    return code;
}

void http_response_header(struct http_request *request,
                          struct http_response *response,
                          const char *name,
                          const char *value)
{
    assert(response->n_headers < HTTP_RESPONSE_HEADERS_MAX);
    response->headers[response->n_headers] =
        (struct http_header){name, arena_strdup(request->arena, value)};
    response->n_headers++;
}
