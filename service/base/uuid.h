#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>

/* UUIDv7 (RFC 9562) from a clock and 10 random bytes that the caller brings. out gets 36 characters
 * + NUL. */
void uuid7_format(uint64_t unix_ms, const uint8_t random[10], char out[37]);

/* Any UUID in the 8-4-4-4-12 form; lower-cased into out (which may be text itself). */
bool uuid_parse(const char *text, char out[37]);

#endif
