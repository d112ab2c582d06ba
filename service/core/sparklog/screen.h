#ifndef CORE_SPARKLOG_SCREEN_H
#define CORE_SPARKLOG_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strview.h"
#include "core/sparklog/json.h"

enum { SCREEN_NAME_MAX = 256 };

/*
 * Does a text look as if it held a credential: a word such as "password" or "token", user
 * information in an address, the marks of well-known keys, or a long run that looks random?
 */
bool screen_is_suspicious(struct strview text);

/*
 * A name people see, made fit to keep: paths and addresses shortened to what stands behind the last
 * slash, at most SCREEN_NAME_MAX - 1 bytes of UTF-8. Returns its length, 0 for a suspicious one.
 */
size_t screen_name(struct json_text text, char out[SCREEN_NAME_MAX]);

#endif
