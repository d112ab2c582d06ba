#ifndef BASE_JSON_KEYS_H
#define BASE_JSON_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/strview.h"

/* A name of a member. */
struct json_key {
    const char *at; /* NUL-terminated */
    uint32_t n;
    uint32_t plain : 1; /* written as it is, without escapes */
    uint32_t from : 31; /* where it was written first */
};

/* Names of the members of one object or several, each once. */
struct json_keys {
    uint32_t n;
    const uint32_t *order; /* places by name, as they are searched; NULL: there are few */
    struct json_key keys[];
};

/* Names of members in the order of their lengths, then of their bytes. Up to JSON_KEYS_FEW are
 * looked through, more are sorted, so that no document makes searches long. */
enum { JSON_KEYS_FEW = 16 };

/* The place of a name; SIZE_MAX: there is none. */
size_t json_keys_find(const struct json_keys *keys, struct strview name);

/* Places in order; `few` has room for JSON_KEYS_FEW. */
const uint32_t *json_keys_order(const struct json_keys *keys, uint32_t few[]);

/*
 * Fill order[keys->n] with the places in order, of equal names the first one first; spare is as
 * large. n log n comparisons; the thread may pause.
 */
void json_keys_sort(const struct json_keys *keys, uint32_t order[], uint32_t spare[]);

/* The first place, in the document, of a name that is there before already; SIZE_MAX: each is there
 * once. order: as sorted; NULL: there are few. */
size_t json_keys_twice(const struct json_keys *keys, const uint32_t order[]);

#endif
