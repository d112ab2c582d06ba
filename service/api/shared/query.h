#ifndef API_SHARED_QUERY_H
#define API_SHARED_QUERY_H

#include "api/api.h"
#include "core/history/run.h"

/* Query parameters of the history calls. A fault names the parameter (422). */

/* Every ?label=key:value, sorted by key; the key ends at the first colon. */
enum pv_code api_query_labels(struct api *api,
                              struct http_request *request,
                              struct run_label **labels,
                              size_t *n,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * `true`, `false` (in letters of either case: libraries differ in how they write them), `1` or `0`;
 * `otherwise` when absent.
 */
enum pv_code api_query_boolean(const struct http_request *request,
                               const char *name,
                               bool otherwise,
                               bool *value,
                               struct pv_error *err) PV_MUSTCHECK;

/* An RFC 3339 instant; RUN_NO_INSTANT when absent. */
enum pv_code api_query_instant(const struct http_request *request,
                               const char *name,
                               int64_t *us,
                               struct pv_error *err) PV_MUSTCHECK;

/* What numbers of executors, cores and the like may be; problem sizes: CODEC_PROBLEM_SIZE_MAX. */
#define API_QUERY_COUNT_MAX INT64_C(1000000000)

/* A whole number from 1; RUN_UNKNOWN when absent. */
enum pv_code api_query_count(const struct http_request *request,
                             const char *name,
                             int64_t *value,
                             struct pv_error *err) PV_MUSTCHECK;

/* A decimal number above `low` up to `high`; NAN when absent. */
enum pv_code api_query_number(const struct http_request *request,
                              const char *name,
                              double low,
                              double high,
                              double *value,
                              struct pv_error *err) PV_MUSTCHECK;

/* One of the words (NULL-terminated); *at is its place, or 0 when absent. */
enum pv_code api_query_word(const struct http_request *request,
                            const char *name,
                            const char *const words[],
                            size_t *at,
                            struct pv_error *err) PV_MUSTCHECK;

/* ?problem_size=8.5: a number above 0, NAN when absent. */
enum pv_code api_query_problem_size(const struct http_request *request,
                                    double *value,
                                    struct pv_error *err) PV_MUSTCHECK;

/* ?problem_sizes=0.5,8: different numbers above 0, otherwise like api_query_counts. */
enum pv_code api_query_problem_sizes(const struct http_request *request,
                                     size_t most,
                                     double **values,
                                     size_t *n,
                                     struct pv_error *err) PV_MUSTCHECK;

/* ?name=1,2,4: different whole numbers from 1 to `largest`, at most `most` of them, in the order
 * given; *values is NULL when absent. */
enum pv_code api_query_counts(const struct http_request *request,
                              const char *name,
                              int64_t largest,
                              size_t most,
                              double **values,
                              size_t *n,
                              struct pv_error *err) PV_MUSTCHECK;

/* A list of words, such as ?include=stages,tasks: bit i is for words[i]; absent: none. NULL ends the
 * words, of which there are 32 at most. */
enum pv_code api_query_words(const struct http_request *request,
                             const char *name,
                             const char *const words[],
                             unsigned *listed,
                             struct pv_error *err) PV_MUSTCHECK;

/* ?include=stages,tasks as a set of enum codec_run_include. */
enum pv_code api_query_run_include(const struct http_request *request,
                                   unsigned *include,
                                   struct pv_error *err) PV_MUSTCHECK;

/* The path parameter {name} as the name of an application that may be about to be made. */
enum pv_code api_query_name(const struct http_request *request,
                            const char **name,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
