#ifndef CORE_JOBLOG_COMMON_SECRET_SCAN_H
#define CORE_JOBLOG_COMMON_SECRET_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strview.h"

enum { SCREEN_NAME_MAX = 256 };

/*
 * Does a text look as if it held a credential: a word such as "password" or "token", user
 * information in an address, the marks of well-known keys, or a long run that looks random?
 */
bool screen_is_suspicious(struct strview text);

/* The same of a text that is random by nature, such as an id: everything but the long run. */
bool screen_is_marked(struct strview text);

#endif
