#include "api/shared/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/shared/reply.h"
#include "core/history/run.h"

static enum pv_code read_limit(const struct config *config,
                               const struct http_request *request,
                               size_t *limit,
                               struct pv_error *err)
{
    const char *text = http_query(request, "limit");
    *limit = (size_t)config->page_default;
    if (text == NULL)
        return PV_OK;
    size_t digits = strspn(text, "0123456789");
    long long value =
        digits > 0 && digits < 10 && text[digits] == '\0' ? strtoll(text, NULL, 10) : 0;
    if (value < 1 || value > config->page_max)
        return pv_fault(err, PV_PLACE_PARAMETER, "limit", "out_of_range",
                        "must be an integer from 1 to %lld", (long long)config->page_max);
    *limit = (size_t)value;
    return PV_OK;
}

/* What does not change which items there are, nor their order. */
static bool is_of_page(const char *parameter)
{
    return strcmp(parameter, "limit") == 0 || strcmp(parameter, "cursor") == 0 ||
           strcmp(parameter, "include") == 0 || strcmp(parameter, "fields") == 0;
}

static int compare_parameters(const void *a, const void *b)
{
    const struct http_parameter *x = a;
    const struct http_parameter *y = b;
    int by_name = strcmp(x->name, y->name);
    return by_name != 0 ? by_name : strcmp(x->value, y->value);
}

/* Path and filters; lengths keep them apart. NULL when memory is exhausted. */
static const char *make_scope(const struct http_request *request)
{
    const char *scope = request->path;
    struct http_parameter *filters =
        arena_array(request->arena, request->n_query + 1, sizeof *filters);
    size_t n = 0;
    if (filters == NULL)
        return NULL;
    for (size_t i = 0; i < request->n_query; i++)
        if (!is_of_page(request->query[i].name))
            filters[n++] = request->query[i];
    qsort(filters, n, sizeof *filters, compare_parameters);
    for (size_t i = 0; i < n && scope != NULL; i++)
        scope = arena_printf(request->arena, "%s %s %zu:%s", scope, filters[i].name,
                             strlen(filters[i].value), filters[i].value);
    return scope;
}

static enum pv_code read_cursor(struct api *api,
                                struct http_request *request,
                                struct api_list *list,
                                struct pv_error *err)
{
    const char *text = http_query(request, "cursor");
    unsigned char key[32];
    list->after = (struct cursor){.instant_us = RUN_NO_INSTANT};
    if (text == NULL)
        return PV_OK;
    PV_TRY(api_service_key(api, key, err));
    list->continued =
        cursor_unseal(key, request->principal.team_id, list->scope, text, &list->after);
    if (list->continued)
        return PV_OK;
    (void)pv_fail(err, PV_E_SYNTAX,
                  "the cursor is not one that this collection with these filters gave out");
    (void)pv_fault(
        err, PV_PLACE_PARAMETER, "cursor", "invalid_cursor",
        "must be the next_cursor of a page with the same filters: start again without a cursor");
    return PV_E_SYNTAX;
}

enum pv_code api_list_begin(struct api *api,
                            struct http_request *request,
                            struct api_list *list,
                            struct pv_error *err)
{
    PV_TRY(read_limit(api->config, request, &list->limit, err));
    if (list->scope == NULL)
        list->scope = make_scope(request);
    if (list->scope == NULL)
        return pv_no_memory(err);
    PV_TRY(read_cursor(api, request, list, err));
    writer_init(&list->w, request->arena);
    writer_begin_object(&list->w);
    return api_read(api, request, &list->tx, err);
}

void api_list_end(struct api_list *list)
{
    store_rollback(&list->tx);
}

void api_list_items(struct api_list *list)
{
    store_rollback(&list->tx);
    writer_key(&list->w, "items");
    writer_begin_array(&list->w);
}

/* The value of Link: the same path and query with the new cursor. NULL when memory is exhausted. */
static const char *link_to(struct http_request *request, const char *cursor)
{
    char *link = arena_printf(request->arena, "<%s?cursor=%s", request->path, cursor);
    for (size_t i = 0; link != NULL && i < request->n_query; i++) {
        if (strcmp(request->query[i].name, "cursor") == 0)
            continue;
        const char *name = api_percent_encode(request->arena, request->query[i].name);
        const char *value = api_percent_encode(request->arena, request->query[i].value);
        if (name == NULL || value == NULL)
            return NULL;
        link = arena_printf(request->arena, "%s&%s=%s", link, name, value);
    }
    return link == NULL ? NULL : arena_printf(request->arena, "%s>; rel=\"next\"", link);
}

static enum pv_code add_link(struct api *api,
                             struct http_request *request,
                             struct http_response *response,
                             const char *scope,
                             const struct cursor *last,
                             const char **text,
                             struct pv_error *err)
{
    unsigned char key[32];
    PV_TRY(api_service_key(api, key, err));
    *text = cursor_seal(key, request->principal.team_id, scope, last, request->arena);
    const char *link = *text == NULL ? NULL : link_to(request, *text);
    if (link == NULL)
        return pv_no_memory(err);
    http_response_header(request, response, "Link", link);
    return PV_OK;
}

enum pv_code api_list_reply(struct api *api,
                            struct http_request *request,
                            struct http_response *response,
                            struct api_list *list,
                            const char *last,
                            int64_t last_us,
                            struct pv_error *err)
{
    struct cursor next = {.instant_us = last_us};
    const char *text = NULL;
    if (last != NULL) {
        (void)snprintf(next.text, sizeof next.text, "%s", last);
        PV_TRY(add_link(api, request, response, list->scope, &next, &text, err));
    }
    writer_end_array(&list->w);
    writer_member_string(&list->w, "next_cursor", text);
    writer_end_object(&list->w);
    return api_reply(response, 200, &list->w, err);
}
