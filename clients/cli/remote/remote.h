#ifndef CLI_REMOTE_REMOTE_H
#define CLI_REMOTE_REMOTE_H

#include <stdatomic.h>

#include "cli/remote/message.h"
#include "cli/settings/settings.h"

/*
 * Calls of the service. A request that may be repeated without harm is, with jitter, when the service
 * is overloaded (429, 503) or away; Retry-After is honoured. One remote belongs to one thread and
 * keeps its connection; several threads open one each.
 */
struct remote;

/* settings is borrowed. stop: NULL, or set from a signal handler to give up waiting. */
bool remote_open(const struct settings *settings,
                 const atomic_bool *stop,
                 struct remote **remote,
                 struct failure *failure);
void remote_close(struct remote *remote);

/* When the token ends, as the last reply that said so wrote it; "" if it does not end soon. */
const char *remote_token_expires(const struct remote *remote);

/* What *stop ends is waiting for another attempt; an attempt that is under way comes to its end. */
void remote_finish_attempts(struct remote *remote);

/*
 * Send it and read the reply. A status of 400 or more is a failure with the service's own words; its
 * code is in reply->status, its problem in reply->json. Free the reply with remote_reply_clear in
 * any case.
 */
bool remote_call(struct remote *remote,
                 const struct remote_request *request,
                 struct remote_reply *reply,
                 struct failure *failure);
void remote_reply_clear(struct remote_reply *reply);

/* GET of a path as JSON: a new reference, or NULL. */
json_t *remote_get(struct remote *remote,
                   const char *path,
                   const struct remote_parameter *query,
                   struct failure *failure);

/* Where the page behind this one begins, "" at the end; NULL, a failure: they do not end, for no page of
 * the service is empty and has another behind it, or leads to itself. before: the cursor of this one. */
const char *
remote_next_page(const char *path, const json_t *page, const char *before, struct failure *failure);

/* All items of a collection, page by page, at most `most` (0: all): a new array, or NULL. More than
 * REMOTE_LIST_MAX are a failure. */
enum { REMOTE_LIST_MAX = 1000000 };
json_t *remote_list(struct remote *remote,
                    const char *path,
                    const struct remote_parameter *query,
                    size_t most,
                    struct failure *failure);

/* A text as a segment of a path: "a b/c" becomes "a%20b%2Fc". Free it; NULL: no memory. */
char *remote_segment(struct remote *remote, const char *text);

/* before, the encoded segment and after, in out. */
bool remote_path(struct remote *remote,
                 const char *before,
                 const char *segment,
                 const char *after,
                 char out[1024],
                 struct failure *failure);

#endif
