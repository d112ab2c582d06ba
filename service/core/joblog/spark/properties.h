#ifndef CORE_JOBLOG_SPARK_PROPERTIES_H
#define CORE_JOBLOG_SPARK_PROPERTIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strview.h"
#include "core/joblog/common/json.h"

/*
 * Spark properties that may be kept. Logs hold passwords in properties, so this is a list of what
 * is allowed, never of what is not: a key outside it is dropped unread, and a value must have the
 * shape of its key (a number, a size, a word of a closed list), which no credential has.
 */
enum { PROPERTIES_MAX = 64, PROPERTY_VALUE_MAX = 128 };

struct property_value {
    char text[PROPERTY_VALUE_MAX]; /* "" when the log does not give it */
};

struct properties {
    struct property_value values[PROPERTIES_MAX]; /* by index of the key */
    char advice_id[37];                           /* spark.provisor.adviceId, lower case, or "" */
};

size_t properties_count(void);
/* Keys ascend. */
const char *properties_key(size_t i);

/* The value of a key that is kept; "" when the log does not give it. */
const char *properties_value(const struct properties *properties, const char *key);

/* Is a property of that key kept? */
bool properties_keep(struct strview key);

/*
 * The value of a property in an object of properties as a log has it (JSON): of "key[Tag]" the tag's,
 * where the property holds a JSON array of {"key", "value"}. Decoded, with its NUL, into out; false
 * where there is none or it does not fit. For names of jobs, which are screened by whoever takes
 * them.
 */
bool properties_find_text(struct strview object, struct strview key, char *out, size_t capacity);

/* Take a property if it is allowed and well-formed; a later value replaces an earlier one. */
void properties_take(struct properties *properties, struct json_text key, struct json_text value);

#endif
