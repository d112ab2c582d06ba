#include "http/router.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct http_route table[] = {
    {.method = HTTP_GET, .template = "/v1/applications/{name}/runs/{id}"},
    {.method = HTTP_DELETE, .template = "/v1/applications/{name}/runs/{id}"},
    {.method = HTTP_GET, .template = "/v1/applications/{name}/runs/export"},
    {.method = HTTP_POST, .template = "/v1/applications"},
    {.method = HTTP_GET, .template = "/v1/applications"},
    {.method = HTTP_GET, .template = "/"},
    {.method = HTTP_GET, .template = "/all/{+rest}"},
    {.method = HTTP_GET, .template = "/files/{name}"},
    {.method = HTTP_GET, .template = "/files/{name}/{+path}"},
    {.template = NULL},
};
static const struct http_route more[] = {{.method = HTTP_PUT, .template = "/v1/applications"},
                                         {.template = NULL}};
static struct http_router router;

static void open_router(void)
{
    const struct http_route *const tables[] = {table, more};
    cr_assert_eq(http_router_init(&router, tables, 2, NULL), PV_OK);
}

static void close_router(void)
{
    http_router_fini(&router);
}

TestSuite(router, .init = open_router, .fini = close_router, .timeout = 5);

static const struct http_resource *
find(const char *a, const char *b, const char *c, const char *d, const char *e)
{
    const char *const segments[] = {a, b, c, d, e};
    size_t n = 0;
    while (n < 5 && segments[n] != NULL)
        n++;
    return http_router_find(&router, segments, n);
}

Test(router, prefers_the_literal)
{
    cr_assert_str_eq(find("v1", "applications", "x", "runs", "export")->template,
                     "/v1/applications/{name}/runs/export");
    cr_assert_str_eq(find("v1", "applications", "x", "runs", "exports")->template,
                     "/v1/applications/{name}/runs/{id}");
}

Test(router, fills_parameters_in_order)
{
    const char *const segments[] = {"v1", "applications", "a/b", "runs", "7"};
    struct arena arena;
    arena_init(&arena, 0);
    const struct http_resource *r = http_router_find(&router, segments, 5);
    struct http_parameter *p = http_router_parameters(r, segments, 5, &arena);
    cr_assert_eq(r->n_parameters, 2);
    cr_assert_str_eq(p[0].name, "name");
    cr_assert_str_eq(p[0].value, "a/b");
    cr_assert_str_eq(p[1].name, "id");
    cr_assert_str_eq(p[1].value, "7");
    arena_fini(&arena);
}

Test(router, knows_what_is_not_there)
{
    cr_assert_null(find("v1", "Applications", NULL, NULL, NULL), "paths are case-sensitive");
    cr_assert_null(find("v1", "applications", "", NULL, NULL), "a trailing slash is another path");
    cr_assert_null(find("v1", "applications", "", "runs", "1"), "a parameter is never empty");
    cr_assert_not_null(find("", NULL, NULL, NULL, NULL));
}

Test(router, gathers_methods_of_both_tables)
{
    const struct http_resource *r = find("v1", "applications", NULL, NULL, NULL);
    cr_assert_str_eq(r->allow, "GET, HEAD, POST, PUT, OPTIONS");
    cr_assert_null(r->by_method[HTTP_DELETE]);
}

Test(router, refuses_two_rows_for_one_call)
{
    const struct http_route *const twice[] = {table, table};
    struct http_router other;
    struct pv_error err = {0};
    cr_assert_eq(http_router_init(&other, twice, 2, &err), PV_E_INTERNAL);
    cr_assert_eq(err.code, PV_E_INTERNAL);
}

static const char *rest_of(const char *template, const char *const segments[], size_t n)
{
    static char text[64];
    struct arena arena;
    arena_init(&arena, 0);
    const struct http_resource *r = http_router_find(&router, segments, n);
    cr_assert_not_null(r);
    cr_assert_str_eq(r->template, template);
    struct http_parameter *p = http_router_parameters(r, segments, n, &arena);
    cr_assert_not_null(p);
    (void)snprintf(text, sizeof text, "%s=%s", p[r->n_parameters - 1].name,
                   p[r->n_parameters - 1].value);
    arena_fini(&arena);
    return text;
}

Test(router, gives_the_rest_of_a_path_to_who_takes_it)
{
    const char *const deep[] = {"files", "a", "b", "..", "c.html"};
    cr_assert_str_eq(rest_of("/files/{name}/{+path}", deep, 5), "path=b/../c.html");
    const char *const folder[] = {"files", "a", ""};
    cr_assert_str_eq(rest_of("/files/{name}/{+path}", folder, 3), "path=");
    cr_assert_str_eq(rest_of("/files/{name}", folder, 2), "name=a");
    const char *const other[] = {"all", "", ""};
    cr_assert_str_eq(rest_of("/all/{+rest}", other, 3), "rest=/");
    cr_assert_str_eq(find("v1", "applications", NULL, NULL, NULL)->template, "/v1/applications");
    cr_assert_null(find("all", NULL, NULL, NULL, NULL), "the slash belongs to the template");
}
