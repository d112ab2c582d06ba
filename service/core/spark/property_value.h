#ifndef CORE_SPARK_PROPERTY_VALUE_H
#define CORE_SPARK_PROPERTY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/history/run.h"

/* Values of Spark properties, by the rules of Spark's own configuration. */

/* The value of a key among properties sorted by it; at == NULL: it is not set. */
struct strview property_find(const struct run_label properties[], size_t n, const char *key);

/* "true" or "false" in letters of either case; `otherwise` for all else. */
bool property_boolean(struct strview text, bool otherwise);

/* A whole number of at least 0, blanks around it allowed; RUN_UNKNOWN for all else. */
int64_t property_count(struct strview text);

/* Is it of Spark's version `major`.`minor` or later? `otherwise` where the text is no version. */
bool property_version_is(struct strview version, int64_t major, int64_t minor, bool otherwise);

#endif
