#ifndef CORE_SPARK_PROPERTY_TYPE_H
#define CORE_SPARK_PROPERTY_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/strview.h"

/*
 * Types of Spark properties: with a value that is not of its type, or not within the bounds of its
 * entry, Spark or the platform does not start the job. Other properties are texts, or unknown here.
 */
enum property_kind {
    PROPERTY_BOOLEAN,
    PROPERTY_WHOLE,
    PROPERTY_NUMBER,
    PROPERTY_TIME,
    PROPERTY_SIZE,
    PROPERTY_CORES /* of Kubernetes */
};

struct property_type {
    const char *key;
    enum property_kind kind;
    const char *unit;   /* of a time or a size without one: "1s", "1m"; NULL for other kinds */
    double least, most; /* in that unit; Spark drops fractions of the unit */
    const char *source; /* the file of Spark that defines the entry, or checks its value */
};

/* Ascending by key. */
extern const struct property_type property_types[];
extern const size_t property_types_n;

/* NULL: the property is a text, or unknown. */
const struct property_type *property_type_of(struct strview key);

/* Is the value of that type? *within: is it within the bounds, too? */
bool property_type_reads(const struct property_type *type, struct strview value, bool *within);

/* "true or false", "a whole number from 1 to 2147483647"; NULL: out of memory. */
const char *property_type_describe(const struct property_type *type, struct arena *arena);

/*
 * The value in one form, which each platform reads as Spark does: truth values in lower case, whole
 * numbers without sign, blanks and leading zeros, numbers, times and sizes without blanks. Other
 * texts, and values that are not of the property's type, stay unchanged. The form is never longer
 * than the value, is written to `out`, which may be where the value is, and is not terminated.
 * Returns its length.
 */
size_t property_normalise(struct strview key, struct strview value, char *out);

/* The same form in the arena, NUL-terminated; at == NULL: out of memory. */
struct strview property_in_one_form(struct strview key, struct strview value, struct arena *arena);

#endif
