#ifndef HTTP_PROBLEM_H
#define HTTP_PROBLEM_H

#include "base/error.h"
#include "http/message.h"

/*
 * Errors as problem details (RFC 9457). `type` is "/problems/<name of the code>", a page of its
 * own; `errors` holds the faults, whose `pointer` is a plain JSON Pointer into the body sent.
 */

/* The HTTP status of a code. This is the only place where one is decided. */
unsigned http_status_of(enum pv_code code);

/* What the challenge of a 401 or 403 says. */
struct http_challenge {
    bool token_sent;   /* a bearer token was sent and not taken */
    const char *scope; /* the one the call needs */
};

/*
 * Replace whatever response holds by the problem, with the header fields its status asks for.
 * Running out of memory leaves a shorter body without faults.
 */
void http_reply_problem(struct http_request *request,
                        struct http_response *response,
                        const struct pv_error *err,
                        struct http_challenge challenge);

/* The body alone; NULL when memory is exhausted. instance and request_id may be NULL. */
const char *http_problem_write(struct arena *arena,
                               unsigned status,
                               const struct pv_error *err,
                               const char *instance,
                               const char *request_id,
                               size_t *n);

#endif
