#ifndef CODEC_SCHEDULING_POLICY_SEARCH_H
#define CODEC_SCHEDULING_POLICY_SEARCH_H

#include "codec/scheduling/policy_comparison.h"
#include "core/scheduling/comparison/policy_search.h"

/* The member `search` of requests that compare schedulers, and what is found. */

/* The same members, in the schemas of either kind. */
extern const struct shape codec_slots_search_shape;
extern const struct shape codec_tasks_search_shape;

/* --- requests --- */

/* What is searched: the policies of a kind, whose terms are lists of values. A table as of policies,
 * its `begin` and `at` for the families of the request. */
void codec_search_decode(const struct codec_node *top,
                         const struct codec_policy_table *families,
                         const struct shape *shape,
                         const struct codec_comparison_limits *limits,
                         void *request);
void codec_search_encode(struct writer *w,
                         const struct codec_policy_table *families,
                         const void *request);

/* A list of values of a term. NULL, and *n 0, where it is absent or at fault. */
double *codec_search_numbers(
    const struct codec_node *family, const char *key, double low, double high, size_t *n);
/* Likewise of integers; infinite: what the word "infinite" stands for; 0: it is none of them. */
uint64_t *codec_search_counts(const struct codec_node *family,
                              const char *key,
                              int64_t low,
                              int64_t high,
                              uint64_t infinite,
                              size_t *n);
/* They are left out where there are none. */
void codec_search_encode_numbers(struct writer *w, const char *key, const double at[], size_t n);
void codec_search_encode_counts(
    struct writer *w, const char *key, const uint64_t at[], uint64_t infinite, size_t n);

/* Complete a search: without `policies` those of the request that have terms to search, or all where
 * there are none; and a name for what is found, which no policy has. */
void codec_search_complete(const struct codec_node *top,
                           const struct codec_policy_table *policies,
                           const struct codec_policy_table *families,
                           void *request);

/* The candidates. */
struct codec_search_size {
    size_t n;
    double work; /* what simulating all jobs once counts for, of the one that takes most */
};

/* Faults: too many candidates or none; a budget that does not suffice to simulate all jobs once at
 * each load. chosen: what choosing the candidates has returned, PV_E_LIMIT where they are too many. */
void codec_search_check(const struct codec_node *top,
                        const struct codec_comparison *common,
                        enum pv_code chosen,
                        const struct codec_search_size *size);

/* Likewise of those that were chosen once the jobs of a workload were loaded, n of them. PV_E_INVALID:
 * too many or none. */
enum pv_code
codec_search_check_loaded(enum pv_code chosen, size_t n, struct pv_error *err) PV_MUSTCHECK;

/* --- replies --- */

/* How candidates are reported: the table of policies, and the terms of each with its word there. */
struct codec_search_report {
    const struct codec_policy_table *policies;
    const void *(*terms)(const void *context, size_t candidate, size_t *word);
    const void *context;
};

/* The member `search` of the item of a load; found NULL: none was asked for. Of what was found there
 * is one candidate at least. */
void codec_search_encode_found(struct writer *w,
                               const struct codec_comparison *common,
                               const struct codec_search_report *report,
                               const struct policy_search_found *found);

#endif
