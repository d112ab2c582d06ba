#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include "http/route.h"

/*
 * Every handler of the service, by the file that holds it; routes.c says which call it answers.
 * context is the struct api.
 */
/* access.c */
enum pv_code token_create(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err);
enum pv_code token_list(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err);
enum pv_code token_revoke(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err);
enum pv_code team_create(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err);
enum pv_code team_list(void *context,
                       struct http_request *request,
                       struct http_response *response,
                       struct pv_error *err);
enum pv_code audit_list(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err);
/* documents.c */
enum pv_code contract_get(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err);
enum pv_code root_get(void *context,
                      struct http_request *request,
                      struct http_response *response,
                      struct pv_error *err);
enum pv_code site_root_get(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err);
enum pv_code site_page_get(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err);
enum pv_code problem_type_get(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err);
/* feasibility.c: stores nothing; a job whose application has no run to replay is a fault */
enum pv_code feasibility_check(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err);

/* stage_plans.c, contention.c: store nothing either */
enum pv_code stage_plan_create(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err);
enum pv_code contention_share(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err);
enum pv_code copy_plans_create(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err);
/* models.c: store nothing */
enum pv_code models_fit(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err);
enum pv_code models_predict(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err);

/* diagnosis.c */
enum pv_code diagnosis_get(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err);

/* history_models.c */
enum pv_code history_models_get(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err);
enum pv_code history_speedup_get(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err);

/* next_experiments.c */
enum pv_code next_experiments_get(void *context,
                                  struct http_request *request,
                                  struct http_response *response,
                                  struct pv_error *err);
/* refit.c: as an operation */
enum pv_code application_refit(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err);
/* simulations.c: likewise */
enum pv_code simulations_create(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err);

/* applications.c */
enum pv_code applications_create(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err);
enum pv_code applications_list(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err);
enum pv_code applications_get(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err);
enum pv_code applications_change(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err);
enum pv_code applications_delete(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err);

/* clusters.c */
enum pv_code clusters_list(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err);
enum pv_code clusters_get(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err);
enum pv_code clusters_put(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err);
enum pv_code clusters_delete(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err);

/* cluster_samples.c, cluster_performance.c */
enum pv_code cluster_samples_add(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err);
enum pv_code cluster_performance_get(void *context,
                                     struct http_request *request,
                                     struct http_response *response,
                                     struct pv_error *err);

/* price_books.c */
enum pv_code price_books_list(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err);
enum pv_code price_books_get(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err);
enum pv_code price_books_put(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err);
enum pv_code price_books_delete(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err);

/* name_rules.c */
enum pv_code name_rules_get(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err);
enum pv_code name_rules_set(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err);
enum pv_code name_rules_reset(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err);
enum pv_code name_rules_preview(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err);

/* runs.c */
enum pv_code runs_create(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err);
enum pv_code runs_list(void *context,
                       struct http_request *request,
                       struct http_response *response,
                       struct pv_error *err);
enum pv_code runs_get(void *context,
                      struct http_request *request,
                      struct http_response *response,
                      struct pv_error *err);
enum pv_code runs_find(void *context,
                       struct http_request *request,
                       struct http_response *response,
                       struct pv_error *err);
enum pv_code runs_delete(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err);

/* run_export.c */
enum pv_code runs_export(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err);

/* run_import.c */
extern const struct http_stream runs_import_stream;

/* eventlogs.c */
extern const struct http_stream eventlogs_stream;
extern const struct http_stream named_eventlogs_stream;

/* advice.c */
enum pv_code advice_create(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err);
enum pv_code advice_list(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err);
enum pv_code advice_get(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err);

/* profile.c */
enum pv_code profile_get(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err);

/* team_accuracy.c */
enum pv_code team_accuracy_list(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err);

/* accuracy.c */
enum pv_code accuracy_list(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err);

/* operations.c, operation_stream.c */
enum pv_code operations_list(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err);
enum pv_code operations_get(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err);
enum pv_code operations_cancel(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err);
enum pv_code operations_events(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err);

#endif
