#ifndef CODEC_SCHEDULING_POLICY_DETAIL_H
#define CODEC_SCHEDULING_POLICY_DETAIL_H

#include "codec/scheduling/policy_comparison.h"
#include "core/scheduling/comparison/job_distribution.h"
#include "core/scheduling/comparison/policy_explain.h"
#include "core/scheduling/comparison/queue_lengths.h"

/* Replies of compared schedulers beyond figures: what is included on request, and why a policy is
 * recommended. */

/* The members load, best and recommendation of the item of a load; results NULL: memory ran out, and
 * the writer fails. */
void codec_recommendation_encode(struct writer *w, const struct policy_results *results);

/* Members of an object that is open. kinds: the name of either kind of tasks. */
void codec_queues_encode(struct writer *w,
                         const struct queue_lengths *queues,
                         const char *const kinds[QUEUE_KINDS]);

/* An item: whose jobs, and the points. */
void codec_distribution_encode(struct writer *w,
                               struct strview of_jobs,
                               const struct job_distribution *distribution);

#endif
