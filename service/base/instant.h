#ifndef BASE_INSTANT_H
#define BASE_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

/* Instants are microseconds since 1970-01-01 UTC, years 0001 to 9999. */
enum { INSTANT_TEXT = 32 };
#define INSTANT_UNKNOWN INT64_MIN

/* RFC 3339 with any offset and up to 9 fraction digits (cut to microseconds). A leap second reads
 * as :59. */
bool instant_parse(const char *text, int64_t *us);

/* "2026-01-05T10:00:00Z", with a fraction of 3 or 6 digits only where it is not zero. */
void instant_format(int64_t us, char out[INSTANT_TEXT]);

#endif
