#ifndef CORE_JOBLOG_COMMON_SECRET_SCAN_H
#define CORE_JOBLOG_COMMON_SECRET_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strview.h"

enum { SCREEN_NAME_MAX = 256 };

/*
 * Does a text hold a credential? Evidence is a word such as "password" with a value behind it, user
 * and password in an address, the form of a well-known key, or a long random run. A word alone
 * ("token_usage_daily") is none. Where *at is not NULL it becomes the place of the evidence. NULL:
 * there is none; else what it is, for a message: "a password, key or token with its value".
 */
const char *secret_found(struct strview text, size_t *at);

bool screen_is_suspicious(struct strview text);

/* The same of a text that is random by nature, such as an id: everything but the random run. */
bool screen_is_marked(struct strview text);

#endif
