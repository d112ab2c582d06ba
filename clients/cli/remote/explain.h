#ifndef CLI_REMOTE_EXPLAIN_H
#define CLI_REMOTE_EXPLAIN_H

#include <curl/curl.h>

#include "cli/remote/message.h"
#include "cli/settings/settings.h"

/*
 * What a reply or its absence means to a person: what happened, where, and what to do next.
 */
/* No reply: the network, TLS. Always false. */
bool explain_network(const struct settings *settings,
                     CURLcode result,
                     const char *error,
                     struct failure *failure);

/* A reply of 400 or more. Always false. */
bool explain_problem(const struct settings *settings,
                     const struct remote_request *request,
                     const struct remote_reply *reply,
                     struct failure *failure);

/* A reply of success: is it one of provisor's? A proxy's page is not. */
bool explain_success(const struct settings *settings,
                     const struct remote_request *request,
                     const struct remote_reply *reply,
                     struct failure *failure);

/* Is it of a kind that may pass by itself? */
bool explain_is_passing(CURLcode result);

#endif
