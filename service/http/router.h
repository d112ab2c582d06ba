#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include "base/arena.h"
#include "base/error.h"
#include "http/route.h"

/*
 * Finds the row of the route table that a path belongs to. Built once, read by all threads.
 *
 * Rows of one template make a resource. A literal segment wins over a parameter in the same place,
 * so ".../runs/export" is found before ".../runs/{id}". A parameter takes one segment that is not
 * empty; the last parameter of a template may be written "{+path}" (RFC 6570) and then takes the
 * rest of the path, its slashes included, which may be empty. Such templates are tried last.
 * Templates are case-sensitive, a trailing '/' is another path.
 */
struct http_resource {
    const char *template;
    size_t index;          /* 0 .. n_resources - 1, for counters */
    const char **segments; /* literal text, or the parameter's name */
    const bool *is_parameter;
    size_t n_segments;
    size_t n_parameters;
    bool takes_rest; /* the last segment is "{+name}" */
    const struct http_route *by_method[HTTP_METHOD_COUNT];
    char allow[64]; /* value of Allow */
};

struct http_router {
    struct arena arena;
    struct http_resource *resources; /* most literal first */
    size_t n;
};

/*
 * tables   n_tables route tables, each ended by a NULL template; borrowed for the router's life.
 *
 * PV_E_INTERNAL: two rows with one method and template, or a malformed template.
 */
enum pv_code http_router_init(struct http_router *router,
                              const struct http_route *const tables[],
                              size_t n_tables,
                              struct pv_error *err) PV_MUSTCHECK;
void http_router_fini(struct http_router *router);

/* The resource of these decoded segments, or NULL. Linear in the number of templates. */
const struct http_resource *
http_router_find(const struct http_router *router, const char *const segments[], size_t n);

/* The path parameters of a match with these n segments, in the order of the template. NULL: memory
 * is exhausted. */
struct http_parameter *http_router_parameters(const struct http_resource *resource,
                                              const char *const segments[],
                                              size_t n,
                                              struct arena *arena);

#endif
