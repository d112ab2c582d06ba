#ifndef BASE_JSON_ESCAPE_H
#define BASE_JSON_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/* Escapes of JSON texts. JSON_NO_CHARACTER: it is none. */
#define JSON_NO_CHARACTER UINT32_MAX

/*
 * The character that [*at, end), behind a backslash, begins with; *at then stands behind it. Two
 * escapes that are a pair of surrogates are one character. Where it is none *at stands where it is
 * wrong, and before a surrogate that has no other: behind the one that there is.
 */
uint32_t json_escape_take(const char **at, const char *end);

/* A character as UTF-8; returns its length. */
size_t json_escape_encode(uint32_t c, char out[4]);

#endif
