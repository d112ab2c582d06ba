#include "api/api.h"
#include "api/handlers.h"

#define APPLICATION "/v1/applications/{name}"
#define BOOK "/v1/price-books/{name}"

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
    {HTTP_POST, "/v1/feasibility", HTTP_READ, HTTP_IO, feasibility_check, NULL, true},
    {HTTP_POST, "/v1/stage-plans", HTTP_READ, HTTP_IO, stage_plan_create, NULL, true},
    {HTTP_POST, "/v1/contention", HTTP_READ, HTTP_COMPUTE, contention_share, NULL, true},
    {HTTP_POST, "/v1/models/fit", HTTP_READ, HTTP_COMPUTE, models_fit, NULL, true},
    {HTTP_POST, "/v1/models/predict", HTTP_READ, HTTP_COMPUTE, models_predict, NULL, true},
    {HTTP_GET, "/v1/name-rules", HTTP_READ, HTTP_IO, name_rules_get, NULL, false},
    {HTTP_PUT, "/v1/name-rules", HTTP_WRITE, HTTP_IO, name_rules_set, NULL, true},
    {HTTP_DELETE, "/v1/name-rules", HTTP_WRITE, HTTP_IO, name_rules_reset, NULL, false},
    {HTTP_POST, "/v1/name-rules/try", HTTP_READ, HTTP_IO, name_rules_try, NULL, true},
    {HTTP_GET, "/v1/clusters", HTTP_READ, HTTP_IO, clusters_list, NULL, false},
    {HTTP_GET, "/v1/clusters/{name}", HTTP_READ, HTTP_IO, clusters_get, NULL, false},
    {HTTP_PUT, "/v1/clusters/{name}", HTTP_WRITE, HTTP_IO, clusters_put, NULL, true},
    {HTTP_DELETE, "/v1/clusters/{name}", HTTP_WRITE, HTTP_IO, clusters_delete, NULL, false},
    {HTTP_GET, "/v1/price-books", HTTP_READ, HTTP_IO, price_books_list, NULL, false},
    {HTTP_GET, BOOK, HTTP_READ, HTTP_IO, price_books_get, NULL, false},
    {HTTP_PUT, BOOK, HTTP_WRITE, HTTP_IO, price_books_put, NULL, HTTP_JSON_OR_CSV},
    {HTTP_DELETE, BOOK, HTTP_WRITE, HTTP_IO, price_books_delete, NULL, false},
    {HTTP_POST, "/v1/applications", HTTP_WRITE, HTTP_IO, applications_create, NULL, true},
    {HTTP_GET, "/v1/applications", HTTP_READ, HTTP_IO, applications_list, NULL, false},
    {HTTP_GET, APPLICATION, HTTP_READ, HTTP_IO, applications_get, NULL, false},
    {HTTP_PATCH, APPLICATION, HTTP_WRITE, HTTP_IO, applications_change, NULL, true},
    {HTTP_DELETE, APPLICATION, HTTP_WRITE, HTTP_IO, applications_delete, NULL, false},
    {HTTP_POST, APPLICATION "/runs", HTTP_WRITE, HTTP_IO, runs_create, NULL, true},
    {HTTP_GET, APPLICATION "/runs", HTTP_READ, HTTP_IO, runs_list, NULL, false},
    {HTTP_GET, APPLICATION "/runs/export", HTTP_READ, HTTP_IO, runs_export, NULL, false},
    {HTTP_POST, APPLICATION "/runs/import", HTTP_WRITE, HTTP_IO, NULL, &runs_import_stream, true},
    {HTTP_GET, APPLICATION "/runs/{id}", HTTP_READ, HTTP_IO, runs_get, NULL, false},
    {HTTP_DELETE, APPLICATION "/runs/{id}", HTTP_WRITE, HTTP_IO, runs_delete, NULL, false},
    {HTTP_GET, "/v1/runs/{id}", HTTP_READ, HTTP_IO, runs_find, NULL, false},
    {HTTP_POST, "/v1/eventlogs", HTTP_WRITE, HTTP_IO, NULL, &named_eventlogs_stream, true},
    {HTTP_POST, APPLICATION "/eventlogs", HTTP_WRITE, HTTP_IO, NULL, &eventlogs_stream, true},
    {HTTP_GET, APPLICATION "/profile", HTTP_READ, HTTP_IO, profile_get, NULL, false},
    {HTTP_GET, APPLICATION "/models", HTTP_READ, HTTP_IO, history_models_get, NULL, false},
    {HTTP_GET, APPLICATION "/speedup", HTTP_READ, HTTP_IO, history_speedup_get, NULL, false},
    {HTTP_GET, APPLICATION "/accuracy", HTTP_READ, HTTP_IO, accuracy_list, NULL, false},
    {HTTP_POST, "/v1/advice", HTTP_WRITE, HTTP_IO, advice_create, NULL, true},
    {HTTP_GET, "/v1/advice", HTTP_READ, HTTP_IO, advice_list, NULL, false},
    {HTTP_GET, "/v1/advice/{id}", HTTP_READ, HTTP_IO, advice_get, NULL, false},

    {.template = NULL},
};
