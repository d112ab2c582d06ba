#ifndef CORE_SCALING_MODEL_DESCRIBE_H
#define CORE_SCALING_MODEL_DESCRIBE_H

#include "base/finding.h"
#include "core/scaling/model/law.h"

/* What the law says of the application, in plain words: what bounds the speedup, where it peaks,
 * which part of the time is which. Adds nothing for a kind without describe. */
void model_describe(const struct model *model, struct findings *findings);

/* Statements that several laws make of an application . Each says nothing
 * where the model does not know the range that was observed, or gives no time there. */

/* However many executors, the speedup stays below `limit`, and half of it is there at `half_at`;
 * an infinite limit: none of the work is serial. `what`: of which problem. */
void describe_limit(struct findings *findings, const char *what, double limit, double half_at);

/* At the largest problem size observed: the executors beyond which more make it slower, or that
 * there are none among those it can use. */
void describe_peak(const struct model *model, struct findings *findings);

/* What doubling the most executors observed would save, at the largest problem size observed. */
void describe_doubling(const struct model *model, struct findings *findings);

/* A part of the time at the largest configuration observed. */
struct describe_part {
    const char *name; /* of the evidence, static */
    const char *what; /* a noun phrase */
    double seconds;
};

/* Which of the parts is the largest there, and by how much. n > 0. */
void describe_parts(struct findings *findings, const struct describe_part parts[], size_t n);

/* The largest problem size and the most executors observed. False: not known. */
bool describe_corner(const struct model *model, double *problem_size, double *executors);

#endif
