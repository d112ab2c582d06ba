#include "http/router.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_names[HTTP_METHOD_COUNT] = {
    [HTTP_GET] = "GET",     [HTTP_POST] = "POST",     [HTTP_PUT] = "PUT",
    [HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE",
};

static struct http_resource *find_template(const struct http_router *router, const char *template)
{
    for (size_t i = 0; i < router->n; i++)
        if (strcmp(router->resources[i].template, template) == 0)
            return &router->resources[i];
    return NULL;
}

static bool split_segment(struct http_resource *r,
                          bool *is_parameter,
                          size_t i,
                          struct strview segment,
                          struct arena *arena)
{
    is_parameter[i] = segment.n > 2 && segment.at[0] == '{' && segment.at[segment.n - 1] == '}';
    if (is_parameter[i]) {
        segment = (struct strview){segment.at + 1, segment.n - 2};
        r->takes_rest = segment.at[0] == '+';
        if (r->takes_rest)
            segment = (struct strview){segment.at + 1, segment.n - 1};
        r->n_parameters++;
    }
    r->segments[i] = arena_strndup(arena, segment.at, segment.n);
    return r->segments[i] != NULL;
}

static enum pv_code
split_template(struct http_resource *r, struct arena *arena, struct pv_error *err)
{
    if (r->template[0] != '/')
        return pv_fail(err, PV_E_INTERNAL, "route %s does not start with '/'", r->template);
    for (const char *c = r->template; *c != '\0'; c++)
        r->n_segments += *c == '/';
    r->segments = arena_calloc(arena, r->n_segments, sizeof *r->segments);
    bool *is_parameter = arena_calloc(arena, r->n_segments, sizeof *is_parameter);
    if (r->segments == NULL || is_parameter == NULL)
        return pv_no_memory(err);
    const char *at = r->template + 1;
    for (size_t i = 0; i < r->n_segments; i++) {
        size_t n = strcspn(at, "/");
        if (!split_segment(r, is_parameter, i, (struct strview){at, n}, arena))
            return pv_no_memory(err);
        at += n + 1;
    }
    r->is_parameter = is_parameter;
    return PV_OK;
}

static enum pv_code
add_route(struct http_router *router, const struct http_route *route, struct pv_error *err)
{
    struct http_resource *r = find_template(router, route->template);
    if (r == NULL) {
        r = &router->resources[router->n];
        r->template = route->template;
        enum pv_code code = split_template(r, &router->arena, err);
        if (code != PV_OK)
            return code;
        router->n++;
    }
    if (r->by_method[route->method] != NULL)
        return pv_fail(err, PV_E_INTERNAL, "two routes for %s %s", method_names[route->method],
                       route->template);
    r->by_method[route->method] = route;
    return PV_OK;
}

static void write_allow(struct http_resource *r)
{
    size_t n = 0;
    for (size_t m = 0; m < HTTP_METHOD_COUNT; m++) {
        if (r->by_method[m] == NULL)
            continue;
        const char *also = m == HTTP_GET ? ", HEAD" : "";
        int more = snprintf(r->allow + n, sizeof r->allow - n, "%s%s, ", method_names[m], also);
        n += more > 0 ? (size_t)more : 0;
    }
    (void)snprintf(r->allow + n, sizeof r->allow - n, "OPTIONS");
}

/* Literals before parameters, place by place, so that the first match is the closest one; what
 * takes the rest of a path comes after everything else. */
static int compare_resources(const void *a, const void *b)
{
    const struct http_resource *x = a, *y = b;
    if (x->takes_rest != y->takes_rest)
        return x->takes_rest ? 1 : -1;
    if (x->n_segments != y->n_segments)
        return x->n_segments < y->n_segments ? -1 : 1;
    for (size_t i = 0; i < x->n_segments; i++) {
        if (x->is_parameter[i] != y->is_parameter[i])
            return x->is_parameter[i] ? 1 : -1;
    }
    return strcmp(x->template, y->template);
}

enum pv_code http_router_init(struct http_router *router,
                              const struct http_route *const tables[],
                              size_t n_tables,
                              struct pv_error *err)
{
    *router = (struct http_router){0};
    arena_init(&router->arena, 0);
    size_t rows = 0;
    for (size_t t = 0; t < n_tables; t++)
        for (const struct http_route *row = tables[t]; row->template != NULL; row++)
            rows++;
    router->resources = arena_calloc(&router->arena, rows, sizeof *router->resources);
    enum pv_code code = PV_OK;
    if (router->resources == NULL)
        code = pv_no_memory(err);
    for (size_t t = 0; t < n_tables && code == PV_OK; t++)
        for (const struct http_route *row = tables[t]; row->template != NULL && code == PV_OK;
             row++)
            code = add_route(router, row, err);
    if (code != PV_OK) {
        http_router_fini(router);
        return code;
    }
    qsort(router->resources, router->n, sizeof *router->resources, compare_resources);
    for (size_t i = 0; i < router->n; i++) {
        router->resources[i].index = i;
        write_allow(&router->resources[i]);
    }
    return PV_OK;
}

void http_router_fini(struct http_router *router)
{
    arena_fini(&router->arena);
    *router = (struct http_router){0};
}

static bool router_matches(const struct http_resource *r, const char *const segments[], size_t n)
{
    if (r->takes_rest ? n < r->n_segments : n != r->n_segments)
        return false;
    for (size_t i = 0; i < r->n_segments - r->takes_rest; i++) {
        bool fits =
            r->is_parameter[i] ? segments[i][0] != '\0' : strcmp(segments[i], r->segments[i]) == 0;
        if (!fits)
            return false;
    }
    return true;
}

const struct http_resource *
http_router_find(const struct http_router *router, const char *const segments[], size_t n)
{
    for (size_t i = 0; i < router->n; i++)
        if (router_matches(&router->resources[i], segments, n))
            return &router->resources[i];
    return NULL;
}

/* Segments joined by '/'. NULL: memory is exhausted. */
static const char *router_join(const char *const segments[], size_t n, struct arena *arena)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += strlen(segments[i]) + 1;
    char *joined = arena_alloc(arena, size);
    char *at = joined;
    for (size_t i = 0; i < n && joined != NULL; i++) {
        size_t length = strlen(segments[i]);
        memcpy(at, segments[i], length);
        at[length] = i + 1 < n ? '/' : '\0';
        at += length + 1;
    }
    return joined;
}

struct http_parameter *http_router_parameters(const struct http_resource *resource,
                                              const char *const segments[],
                                              size_t n,
                                              struct arena *arena)
{
    struct http_parameter *all = arena_calloc(arena, resource->n_parameters, sizeof *all);
    if (all == NULL)
        return NULL;
    size_t found = 0;
    for (size_t i = 0; i < resource->n_segments; i++)
        if (resource->is_parameter[i])
            all[found++] = (struct http_parameter){resource->segments[i], segments[i]};
    if (!resource->takes_rest)
        return all;
    size_t last = resource->n_segments - 1;
    all[found - 1].value = router_join(segments + last, n - last, arena);
    return all[found - 1].value == NULL ? NULL : all;
}
