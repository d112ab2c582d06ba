#ifndef BASE_JSON_MEASURE_H
#define BASE_JSON_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What there is in a JSON text, judged on its bytes before anything is built from them: a tree takes
 * many times what a body of commas does. Of a text that is no JSON the counts are those up to its
 * first fault and of what else looks like JSON behind it.
 */
struct json_bounds {
    size_t depth;  /* levels of nesting */
    size_t values; /* members and items, a little over-counted: commas and brackets that open */
};

struct json_extent {
    size_t commas;
    size_t objects;
    size_t arrays;
    size_t members; /* colons */
    bool too_deep;
    bool too_many; /* values; where either is found the rest is not looked at */
};

/* A fraction of a nanosecond a byte; the thread may pause (base/duty.h). */
struct json_extent json_measure(const char *text, size_t n, const struct json_bounds *bounds);

/* In a way that every machine can, for the test that it agrees with what this one does. */
struct json_extent
json_measure_portably(const char *text, size_t n, const struct json_bounds *bounds);

#endif
