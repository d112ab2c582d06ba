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

/*
 * Values of Spark properties, exactly as Spark's typed entries read them
 * (internal/config/ConfigHelpers, network/util/JavaUtils). They trim what they read: truth values,
 * numbers, times and sizes, but no other text.
 *
 *   toBoolean  "true" and "false" in letters of either case
 *   toInt      Integer.parseInt: a sign and digits: "+4" and "007" are numbers; "0x4", "1_000", "4.0"
 *              and "4d" are not
 *   toDouble   Double.parseDouble: "1e3", ".5", "5." and, with a suffix of type, "4d" and "4f"; of
 *              hexadecimal numbers only those with a binary exponent ("0x1p3"), so not "0x1"
 *   times      -?[0-9]+ and a unit
 *   sizes      -?[0-9]+ and a unit: no fraction, no '+'
 *
 * Spark reads more in two cases that no person means, and that are refused here: digits of other
 * scripts, and numbers that are not finite.
 */

/* The value of a key among properties sorted by it; at == NULL: it is not set. */
struct strview property_find(const struct run_label properties[], size_t n, const char *key);

/* Without the blanks and control characters at both ends that Java's String.trim removes. */
struct strview property_trim(struct strview text);

/* "true" or "false" in letters of either case; `otherwise` for all else. */
bool property_boolean(struct strview text, bool otherwise);

/* A whole number of 64 bits with or without a sign. False for all else. */
bool property_whole(struct strview text, int64_t *value);

/* A whole number from 0 to the largest of Spark's counts (2^31 - 1); RUN_UNKNOWN for all else. */
int64_t property_count(struct strview text);

/* A finite number; NAN for all else. */
double property_number(struct strview text);

/* A size in bytes: a whole number and a unit (b, k, m, g, t, p, of 1024 each, with or without
 * another b), `unit` bytes where there is none. False for all else, and for more than 2^63 - 1. */
bool property_bytes(struct strview text, int64_t unit, int64_t *bytes);

/* The same for a size of at least 0, with a margin for sums of sizes; RUN_UNKNOWN for all else. */
int64_t property_size(struct strview text, int64_t unit);

/* Cores as Kubernetes takes them (its type Quantity): a number with or without one of the units n, u,
 * m, k, M, Ki and Mi, without blanks; > 0. NAN for all else. */
double property_cores(struct strview text);

/* A length of time in seconds: a whole number and a unit (us, ms, s, m or min, h, d), `unit` seconds
 * where there is none. NAN for all else. */
double property_time(struct strview text, double unit);

/* The same for a length of at least 0, in seconds without a unit; NAN for all else. */
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
