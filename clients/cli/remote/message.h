#ifndef CLI_REMOTE_MESSAGE_H
#define CLI_REMOTE_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/failure.h"

/* A request to the service, and its reply. */

/* The bytes of a body that is not held in memory. */
struct remote_body {
    /* Up to n bytes; *got 0 at the end. False: the body cannot be read, and says why in failure. */
    bool (*read)(void *context, void *bytes, size_t n, size_t *got, struct failure *failure);
    /* From the beginning again; NULL: the request cannot be repeated. */
    bool (*rewind)(void *context, struct failure *failure);
    void *context;
    int64_t bytes; /* -1: unknown, sent in chunks */
};

struct remote_parameter {
    const char *name;
    const char *value; /* NULL: left out */
};

struct remote_request {
    const char *method;                   /* "GET" */
    const char *path;                     /* "/v1/advice"; segments encoded by remote_segment */
    const struct remote_parameter *query; /* ended by a NULL name; or NULL */
    const char *text;                     /* the body, n_text bytes; or NULL */
    size_t n_text;
    const struct remote_body *body; /* instead of text */
    const char *content_type;       /* NULL: application/json */
    const char *accept;             /* NULL: application/json */
    const char *idempotency_key;    /* NULL: none */
    const char *if_match;           /* NULL: none */
    const char *if_none_match;      /* NULL: none */
    const char *prefer;             /* NULL: none; "wait=20" */
    const char *log_source;         /* X-Log-Source, of remote_segment; NULL: none */
    bool once;                      /* not to be repeated: neither idempotent nor with a key */
    /* NULL: the reply is kept in memory. Bytes of a reply of success, as they come. */
    bool (*sink)(void *context, const void *bytes, size_t n, struct failure *failure);
    void *sink_context;
};

/* The header of a reply that says when the caller's token ends, if that is near. */
#define TOKEN_EXPIRES_HEADER "Provisor-Token-Expires"
enum { TOKEN_EXPIRES = 40 };

struct remote_reply {
    long status;
    char *text; /* NUL-terminated; never NULL after a call that succeeded */
    size_t n;
    json_t *json; /* of a JSON reply; else NULL */
    char content_type[128];
    char location[512];
    char etag[256];
    char log_outcome[16];              /* of an upload of a log: X-Log-Outcome; "" without one */
    char log_reason[320];              /* and X-Log-Reason */
    char token_expires[TOKEN_EXPIRES]; /* TOKEN_EXPIRES_HEADER; "" without one */
    unsigned attempts;
};

#endif
