#ifndef API_SHARED_PREFER_H
#define API_SHARED_PREFER_H

#include "http/message.h"

/* Seconds of "Prefer: wait=N" (RFC 7240), at most `most`; 0 where nothing or nonsense is asked. Any
 * number of Prefer fields, preferences and parameters is gone through; the first wait counts. */
int64_t prefer_wait_s(const struct http_request *request, int64_t most);

#endif
