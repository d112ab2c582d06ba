#ifndef CLI_SOURCES_URI_H
#define CLI_SOURCES_URI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/*
 * Percent-encoding (RFC 3986): all bytes but the unreserved ones, which is also what a signature of
 * AWS is made of; of a path, the slashes stay. NULL when memory ran out.
 */
char *uri_encode_value(struct arena *arena, const char *text);
char *uri_encode_path(struct arena *arena, const char *path);

/* Decode in place; '+' is a space where a form wrote it. false: a '%' without two digits, or a NUL. */
bool uri_decode(char *text, bool form);

/* Of text from elsewhere that goes into a message: what a terminal would act upon becomes '?'. */
void uri_printable(char *text);

/*
 * A base URL is http:// or https://, a host, and what follows, without a user, '?', '#', spaces or
 * control characters.
 */
bool uri_is_base(const char *url);

/* A copy of such a URL, without '/' at its end; NULL when memory ran out. */
char *uri_base(struct arena *arena, const char *url);

#endif
