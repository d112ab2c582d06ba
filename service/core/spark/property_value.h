#ifndef CORE_SPARK_PROPERTY_VALUE_H
#define CORE_SPARK_PROPERTY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/history/run.h"
#include "core/spark/proposal.h"

/* A property that is to be set. */
struct spark_property_plan {
    const char *key;
    const char *value;
    const char *reason; /* a clause */
    enum spark_proposal kind;
};

/* Values of Spark properties, by the rules of Spark's own configuration. */

/* The value of a key among properties sorted by it; at == NULL: it is not set. */
struct strview property_find(const struct run_label properties[], size_t n, const char *key);

/* "true" or "false" in letters of either case; `otherwise` for all else. */
bool property_boolean(struct strview text, bool otherwise);

/* A whole number of at least 0, blanks around it allowed; RUN_UNKNOWN for all else. */
int64_t property_count(struct strview text);

/* A number; NAN for all else. */
double property_number(struct strview text);

/* A size in bytes: a whole number and a unit (b, k, m, g, t, p, of 1024 each, with or without
 * another b), `unit` bytes where there is none; RUN_UNKNOWN for all else. */
int64_t property_size(struct strview text, int64_t unit);

/* Cores as Kubernetes takes them: a number, or thousandths with the unit m; > 0. NAN for all else. */
double property_cores(struct strview text);

/* A length of time in seconds: a whole number and a unit (us, ms, s, m or min, h, d), seconds where
 * there is none; NAN for all else. */
double property_seconds(struct strview text);

/* The memory overhead that Spark gives an executor where none is set, of its heap in bytes and the
 * factor: at least 384 MiB, in whole MiB. */
int64_t property_default_overhead(int64_t heap, double factor);

/* Does spark.master name the local mode, in which the driver is the only executor? local-cluster[...]
 * starts executors. */
bool property_is_local(struct strview master);

/* Is it of Spark's version `major`.`minor` or later? `otherwise` where the text is no version. */
bool property_version_is(struct strview version, int64_t major, int64_t minor, bool otherwise);

#endif
