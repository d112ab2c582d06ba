#ifndef HTTP_TOKEN_LOOKUP_H
#define HTTP_TOKEN_LOOKUP_H

#include "base/error.h"
#include "base/principal.h"

struct http_server;

/* Ask the service whose token it is, and remember the answer for the time that settings allow. On
 * an io worker. PV_E_UNAUTHENTICATED: nobody's; else what went wrong while asking. */
enum pv_code token_look_up(struct http_server *server,
                           const char *token,
                           struct principal *who,
                           struct pv_error *err) PV_MUSTCHECK;

/* The same on a thread of its own, however busy io workers are, while the requests of `team` go on
 * with what is known. Where there is no memory or no room in the queue nothing happens: somebody
 * will ask when the token has lapsed. */
void token_renew(struct http_server *server, const char *token, const char *team);

#endif
