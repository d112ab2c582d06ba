#ifndef HTTP_PARK_H
#define HTTP_PARK_H

#include "http/message.h"

/*
 * Replies that wait for something to happen, without a thread. A handler, or the `next` of a
 * source, takes a ticket, leaves it with whoever will know, and answers PV_E_RETRY; it is run again,
 * on an io worker, when the ticket is used, also if that was before it answered. A handler begins
 * anew then: what it wants to remember goes into request->resumes. Whoever holds the ticket uses it
 * once: wakes or drops it. The request's deadline holds on: a ticket that is not used by then
 * belongs to a request that was answered 503 (http_ticket_is_alive says no).
 */
struct http_ticket;

/* NULL: nothing may wait any more, the server stops. Once a turn, on the worker's thread. */
struct http_ticket *http_park(struct http_request *request);

/* From any thread. false: no worker has room for it; the ticket is still good, try again soon. */
bool http_ticket_wake(struct http_ticket *ticket) PV_MUSTCHECK;

/* false: the client has gone, or its time is over; the ticket is only good to be dropped. */
bool http_ticket_is_alive(const struct http_ticket *ticket);

/* Let go of one that is not alive, or of any once the server has drained. */
void http_ticket_drop(struct http_ticket *ticket);

#endif
