#include "api/api.h"
#include "api/handlers.h"

/* method, template, who may, where it runs, handler, stream, takes a body */
const struct http_route api_routes[] = {
    {HTTP_POST, "/v1/tokens", HTTP_ADMIN, HTTP_IO, token_create, NULL, true},
    {HTTP_GET, "/v1/tokens", HTTP_ADMIN, HTTP_IO, token_list, NULL, false},
    {HTTP_DELETE, "/v1/tokens/{id}", HTTP_ADMIN, HTTP_IO, token_revoke, NULL, false},
    {HTTP_POST, "/v1/teams", HTTP_ADMIN, HTTP_IO, team_create, NULL, true},
    {HTTP_GET, "/v1/teams", HTTP_ADMIN, HTTP_IO, team_list, NULL, false},
    {HTTP_GET, "/v1/audit", HTTP_ADMIN, HTTP_IO, audit_list, NULL, false},

    {HTTP_GET, "/openapi.yaml", HTTP_PUBLIC, HTTP_INLINE, contract_get, NULL, false},
    {HTTP_GET, "/docs", HTTP_PUBLIC, HTTP_INLINE, reference_get, NULL, false},
    {HTTP_GET, "/problems/{name}", HTTP_PUBLIC, HTTP_INLINE, problem_type_get, NULL, false},
    {HTTP_POST, "/v1/feasibility", HTTP_READ, HTTP_COMPUTE, feasibility_check, NULL, true},
    {.template = NULL},
};
