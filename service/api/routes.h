#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "http/route.h"

/*
 * The calls of the service, a row each:
 *   CALL(method, template, who may, where it runs, handler, what it takes as its body)
 *   STEPS(method, template, who may, call in steps, what it takes as its body)
 *   STREAM(method, template, who may, stream)
 *   EITHER(method, template, who may, call in steps, stream that takes NDJSON instead)
 * A row declares its handler too, so that the file that has it includes this one.
 */
#define API_APPLICATION "/v1/applications/{name}"
#define API_BOOK "/v1/price-books/{name}"
#define API_CLUSTER "/v1/clusters/{name}"
#define API_LOOP "/v1/quota-loops/{name}"
#define API_WEBHOOK "/v1/webhooks/{id}"
#define API_DELIVERY API_WEBHOOK "/deliveries/{delivery_id}"

/* clang-format off */
#define API_ROUTES(CALL, STEPS, STREAM, EITHER) \
    STEPS(POST, "/v1/tokens", ADMIN, token_create, JSON) \
    CALL(GET, "/v1/tokens", ADMIN, IO, token_list, NO_BODY) \
    CALL(DELETE, "/v1/tokens/{id}", ADMIN, IO, token_revoke, NO_BODY) \
    STEPS(POST, "/v1/teams", ADMIN, team_create, JSON) \
    CALL(GET, "/v1/teams", ADMIN, IO, team_list, NO_BODY) \
    CALL(GET, "/v1/teams/{name}/usage", ADMIN, IO, team_usage_get, NO_BODY) \
    CALL(PUT, "/v1/teams/{name}/quotas", ADMIN, IO, team_quotas_put, JSON) \
    CALL(GET, "/v1/usage", READ, IO, usage_get, NO_BODY) \
    CALL(GET, "/v1/audit", ADMIN, IO, audit_list, NO_BODY) \
    CALL(GET, "/v1/ingestions", READ, IO, ingestions_list, NO_BODY) \
    CALL(GET, "/", PUBLIC, INLINE, root_get, NO_BODY) \
    CALL(GET, "/openapi.yaml", PUBLIC, INLINE, contract_get, NO_BODY) \
    CALL(GET, "/openapi.json", PUBLIC, INLINE, contract_get, NO_BODY) \
    CALL(GET, "/docs", PUBLIC, INLINE, site_root_get, NO_BODY) \
    CALL(GET, "/docs/{+path}", PUBLIC, INLINE, site_page_get, NO_BODY) \
    CALL(GET, "/problems/{name}", PUBLIC, INLINE, problem_type_get, NO_BODY) \
    STEPS(POST, "/v1/feasibility", READ, feasibility_check, JSON) \
    STEPS(POST, "/v1/stage-plans", READ, stage_plan_create, JSON) \
    STEPS(POST, "/v1/contention", READ, contention_share, JSON) \
    STEPS(POST, "/v1/control-simulations", WRITE, control_simulations_create, JSON) \
    STEPS(POST, "/v1/memory-plans", READ, memory_plans_create, JSON) \
    STEPS(POST, "/v1/pigeon-plans", READ, pigeon_plans_create, JSON) \
    EITHER(POST, "/v1/slot-decisions", READ, slot_decisions_make, slot_decisions_replay) \
    STEPS(POST, "/v1/slot-plans", READ, slot_plans_create, JSON) \
    STEPS(POST, "/v1/slowdowns", READ, slowdowns_summarize, JSON) \
    EITHER(POST, "/v1/speculation-decisions", READ, speculation_decide, speculation_replay) \
    CALL(GET, "/v1/quota-loops", READ, IO, quota_loops_list, NO_BODY) \
    CALL(GET, API_LOOP, READ, IO, quota_loops_get, NO_BODY) \
    STEPS(PUT, API_LOOP, WRITE, quota_loops_put, JSON) \
    CALL(DELETE, API_LOOP, WRITE, IO, quota_loops_delete, NO_BODY) \
    STEPS(POST, API_LOOP "/samples", WRITE, quota_samples_add, JSON) \
    STEPS(POST, "/v1/copy-plans", READ, copy_plans_create, JSON) \
    STEPS(POST, "/v1/simulations", WRITE, simulations_create, JSON) \
    STREAM(POST, "/v1/workloads", WRITE, workloads_stream) \
    CALL(GET, "/v1/workloads", READ, IO, workloads_list, NO_BODY) \
    CALL(GET, "/v1/workloads/{id}", READ, IO, workloads_get, NO_BODY) \
    CALL(DELETE, "/v1/workloads/{id}", WRITE, IO, workloads_delete, NO_BODY) \
    STEPS(POST, "/v1/models/fit", READ, models_fit, JSON) \
    STEPS(POST, "/v1/models/predict", READ, models_predict, JSON) \
    CALL(GET, "/v1/name-rules", READ, IO, name_rules_get, NO_BODY) \
    STEPS(PUT, "/v1/name-rules", WRITE, name_rules_set, JSON) \
    CALL(DELETE, "/v1/name-rules", WRITE, IO, name_rules_reset, NO_BODY) \
    STEPS(POST, "/v1/name-rules/preview", READ, name_rules_preview, JSON) \
    CALL(GET, "/v1/clusters", READ, IO, clusters_list, NO_BODY) \
    CALL(GET, "/v1/clusters/{name}", READ, IO, clusters_get, NO_BODY) \
    STEPS(PUT, "/v1/clusters/{name}", WRITE, clusters_put, JSON) \
    CALL(DELETE, "/v1/clusters/{name}", WRITE, IO, clusters_delete, NO_BODY) \
    STEPS(POST, API_CLUSTER "/samples", WRITE, cluster_samples_add, JSON) \
    CALL(GET, API_CLUSTER "/performance", READ, IO, cluster_performance_get, NO_BODY) \
    STEPS(POST, "/v1/admissions", WRITE, admissions_create, JSON) \
    CALL(GET, "/v1/admissions", READ, IO, admissions_list, NO_BODY) \
    CALL(GET, "/v1/admissions/{id}", READ, IO, admissions_get, NO_BODY) \
    STEPS(PATCH, "/v1/admissions/{id}", WRITE, admissions_extend, JSON) \
    CALL(DELETE, "/v1/admissions/{id}", WRITE, IO, admissions_release, NO_BODY) \
    CALL(GET, "/v1/price-books", READ, IO, price_books_list, NO_BODY) \
    CALL(GET, API_BOOK, READ, IO, price_books_get, NO_BODY) \
    STEPS(PUT, API_BOOK, WRITE, price_books_put, JSON_OR_CSV) \
    CALL(DELETE, API_BOOK, WRITE, IO, price_books_delete, NO_BODY) \
    STEPS(POST, "/v1/applications", WRITE, applications_create, JSON) \
    CALL(GET, "/v1/applications", READ, IO, applications_list, NO_BODY) \
    CALL(GET, API_APPLICATION, READ, IO, applications_get, NO_BODY) \
    STEPS(PATCH, API_APPLICATION, WRITE, applications_change, JSON) \
    CALL(DELETE, API_APPLICATION, WRITE, IO, applications_delete, NO_BODY) \
    STEPS(POST, API_APPLICATION "/runs", WRITE, runs_create, JSON) \
    CALL(GET, API_APPLICATION "/runs", READ, IO, runs_list, NO_BODY) \
    CALL(GET, API_APPLICATION "/runs/export", READ, IO, runs_export, NO_BODY) \
    STREAM(POST, API_APPLICATION "/runs/import", WRITE, runs_import_stream) \
    CALL(GET, API_APPLICATION "/runs/{id}", READ, IO, runs_get, NO_BODY) \
    STEPS(PATCH, API_APPLICATION "/runs/{id}", WRITE, runs_change, JSON) \
    CALL(DELETE, API_APPLICATION "/runs/{id}", WRITE, IO, runs_delete, NO_BODY) \
    CALL(GET, "/v1/runs", READ, IO, runs_list, NO_BODY) \
    CALL(GET, "/v1/runs/{id}", READ, IO, runs_find, NO_BODY) \
    STREAM(POST, "/v1/eventlogs", WRITE, named_eventlogs_stream) \
    STREAM(POST, API_APPLICATION "/eventlogs", WRITE, eventlogs_stream) \
    CALL(GET, API_APPLICATION "/profile", READ, IO, profile_get, NO_BODY) \
    STEPS(GET, API_APPLICATION "/models", READ, history_models_get, NO_BODY) \
    STEPS(POST, API_APPLICATION "/refit", WRITE, application_refit, JSON) \
    STEPS(GET, API_APPLICATION "/speedup", READ, application_speedup_get, NO_BODY) \
    STEPS(GET, API_APPLICATION "/next-experiments", READ, next_experiments_get, NO_BODY) \
    CALL(GET, "/v1/accuracy", READ, IO, team_accuracy_list, NO_BODY) \
    STEPS(GET, API_APPLICATION "/diagnosis", READ, diagnosis_get, NO_BODY) \
    STEPS(GET, API_APPLICATION "/stragglers", READ, stragglers_get, NO_BODY) \
    CALL(GET, API_APPLICATION "/accuracy", READ, IO, accuracy_list, NO_BODY) \
    STEPS(POST, "/v1/advice", WRITE, advice_create, JSON) \
    STEPS(POST, "/v1/advice/batch", WRITE, advice_batch, JSON) \
    CALL(GET, "/v1/advice", READ, IO, advice_list, NO_BODY) \
    CALL(GET, "/v1/advice/{id}", READ, IO, advice_get, NO_BODY) \
    STEPS(POST, "/v1/kubernetes/admission", WRITE, kubernetes_admission, JSON) \
    CALL(GET, "/v1/operations", READ, IO, operations_list, NO_BODY) \
    CALL(GET, "/v1/operations/{id}", READ, IO, operations_get, NO_BODY) \
    CALL(DELETE, "/v1/operations/{id}", WRITE, IO, operations_cancel, NO_BODY) \
    CALL(GET, "/v1/operations/{id}/events", READ, IO, operations_events, NO_BODY) \
    STEPS(POST, "/v1/webhooks", ADMIN, webhooks_create, JSON) \
    CALL(GET, "/v1/webhooks", ADMIN, IO, webhooks_list, NO_BODY) \
    CALL(GET, API_WEBHOOK, ADMIN, IO, webhooks_get, NO_BODY) \
    STEPS(PATCH, API_WEBHOOK, ADMIN, webhooks_change, JSON) \
    CALL(DELETE, API_WEBHOOK, ADMIN, IO, webhooks_delete, NO_BODY) \
    STEPS(POST, API_WEBHOOK "/rotate", ADMIN, webhooks_rotate, JSON) \
    CALL(POST, API_WEBHOOK "/ping", ADMIN, IO, webhooks_ping, NO_BODY) \
    STEPS(POST, API_WEBHOOK "/redeliver", ADMIN, webhooks_redeliver, JSON) \
    CALL(GET, API_WEBHOOK "/deliveries", ADMIN, IO, webhook_deliveries_list, NO_BODY) \
    CALL(GET, API_DELIVERY, ADMIN, IO, webhook_deliveries_get, NO_BODY) \
    CALL(POST, API_DELIVERY "/redeliver", ADMIN, IO, webhook_deliveries_redeliver, NO_BODY)
/* clang-format on */

#define API_DECLARE_CALL(method, template, access, place, handler, body)                           \
    enum pv_code handler(void *context, struct http_request *request,                              \
                         struct http_response *response, struct pv_error *err);
#define API_DECLARE_STEPS(method, template, access, name, body) extern const struct http_call name;
#define API_DECLARE_STREAM(method, template, access, name) extern const struct http_stream name;
#define API_DECLARE_EITHER(method, template, access, call, stream)                                 \
    extern const struct http_call call;                                                            \
    extern const struct http_stream stream;

API_ROUTES(API_DECLARE_CALL, API_DECLARE_STEPS, API_DECLARE_STREAM, API_DECLARE_EITHER)

#endif
