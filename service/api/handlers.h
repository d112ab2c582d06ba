#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include "http/route.h"

/*
 * Every handler of the service, by the file that holds it; routes.c says which call it answers.
 * context is the struct api.
 */
#define API_HANDLER(name)                                                                          \
    enum pv_code name(void *context, struct http_request *request, struct http_response *response, \
                      struct pv_error *err)

/* access.c */
API_HANDLER(token_create);
API_HANDLER(token_list);
API_HANDLER(token_revoke);
API_HANDLER(team_create);
API_HANDLER(team_list);
API_HANDLER(audit_list);
/* documents.c */
API_HANDLER(contract_get);
API_HANDLER(reference_get);
API_HANDLER(problem_type_get);
/* feasibility.c: stores nothing; a job whose application has no run to replay is a fault */
API_HANDLER(feasibility_check);

/* stage_plans.c, contention.c: store nothing either */
API_HANDLER(stage_plan_create);
API_HANDLER(contention_share);
API_HANDLER(copy_plans_create);
/* models.c: store nothing */
API_HANDLER(models_fit);
API_HANDLER(models_predict);

/* diagnosis.c */
API_HANDLER(diagnosis_get);

/* history_models.c */
API_HANDLER(history_models_get);
API_HANDLER(history_speedup_get);

/* next_experiments.c */
API_HANDLER(next_experiments_get);
/* refit.c: as an operation */
API_HANDLER(application_refit);
/* simulations.c: likewise */
API_HANDLER(simulations_create);

/* applications.c */
API_HANDLER(applications_create);
API_HANDLER(applications_list);
API_HANDLER(applications_get);
API_HANDLER(applications_change);
API_HANDLER(applications_delete);

/* clusters.c */
API_HANDLER(clusters_list);
API_HANDLER(clusters_get);
API_HANDLER(clusters_put);
API_HANDLER(clusters_delete);

/* cluster_samples.c, cluster_performance.c */
API_HANDLER(cluster_samples_add);
API_HANDLER(cluster_performance_get);

/* price_books.c */
API_HANDLER(price_books_list);
API_HANDLER(price_books_get);
API_HANDLER(price_books_put);
API_HANDLER(price_books_delete);

/* name_rules.c */
API_HANDLER(name_rules_get);
API_HANDLER(name_rules_set);
API_HANDLER(name_rules_reset);
API_HANDLER(name_rules_try);

/* runs.c */
API_HANDLER(runs_create);
API_HANDLER(runs_list);
API_HANDLER(runs_get);
API_HANDLER(runs_find);
API_HANDLER(runs_delete);

/* run_export.c */
API_HANDLER(runs_export);

/* run_import.c */
extern const struct http_stream runs_import_stream;

/* eventlogs.c */
extern const struct http_stream eventlogs_stream;
extern const struct http_stream named_eventlogs_stream;

/* advice.c */
API_HANDLER(advice_create);
API_HANDLER(advice_list);
API_HANDLER(advice_get);

/* profile.c */
API_HANDLER(profile_get);

/* team_accuracy.c */
API_HANDLER(team_accuracy_list);

/* accuracy.c */
API_HANDLER(accuracy_list);

/* operations.c, operation_stream.c */
API_HANDLER(operations_list);
API_HANDLER(operations_get);
API_HANDLER(operations_cancel);
API_HANDLER(operations_events);

#endif
