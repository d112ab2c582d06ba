#ifndef CLI_HTTP_FETCH_H
#define CLI_HTTP_FETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/failure.h"
#include "cli/http/retry.h"

/*
 * HTTP GET, read like a file: memory does not grow with what is read, and what was cut is taken up
 * again behind the last byte, of the same content or not at all.
 *
 * A client keeps the settings and idle connections; it is used by any number of threads at a time. A
 * fetch is used by one thread at a time; it may be read in a callback of another transfer of libcurl.
 */
struct fetch_options {
    const char *ca_file;       /* certificates to trust, PEM; NULL: those of the system */
    double connect_timeout_s;  /* > 0 */
    double stall_timeout_s;    /* less than a KiB a second for so long counts as cut; > 0 */
    struct retry_policy retry; /* attempts in a row without progress */
    const atomic_bool *stop;   /* ends what waits, soon after it is set; NULL: nothing does */
};

/* 10 s, 60 s, retry_policy_default. */
struct fetch_options fetch_options_default(void);

struct fetch_client;

/* NULL when memory ran out. The strings of the options are copied, `stop` is borrowed. */
struct fetch_client *fetch_client_create(const struct fetch_options *options);

/* After all of its fetches are closed. NULL is allowed. */
void fetch_client_destroy(struct fetch_client *client);

/* A reply that is not the content. Valid during the call that receives it. */
struct fetch_reply {
    long status; /* 0: none arrived */
    const char *body;
    size_t n;     /* FETCH_REFUSAL_MAX at most, the rest is dropped */
    void *handle; /* for fetch_reply_header */
};

enum { FETCH_REFUSAL_MAX = 64 * 1024 };

/* The value of a header of the reply; NULL: it has none of the name. Valid during the call. */
const char *fetch_reply_header(const struct fetch_reply *reply, const char *name);

enum fetch_verdict {
    FETCH_GIVE_UP, /* unless its status is one that may pass (retry_status) */
    FETCH_AGAIN
};

/* How what was cut is taken up again. */
enum fetch_resume {
    FETCH_RESUME_NONE,  /* not at all, once some of it was read */
    FETCH_RESUME_RANGE, /* by the header Range */
    FETCH_RESUME_URL    /* by url_at, which says in the URL where to begin */
};

/* All strings are borrowed until the fetch is closed. */
struct fetch_request {
    const char *name; /* what is fetched, as printed: URLs may hold secrets and are not */
    const char *url;  /* complete, percent-encoded */
    /* Instead of url: the URL for the bytes from this one on, borrowed until the next call; NULL when
     * memory ran out. Called before each attempt. */
    const char *(*url_at)(void *context, int64_t offset);
    const char *const *headers; /* "Name: value", up to a NULL; NULL: none */
    const char *sigv4;          /* "aws:amz:REGION:s3": sign with `user`; NULL: no signature */
    const char *user;           /* "name:password"; NULL: none */
    long redirects_max;         /* 0: a redirect is a refusal */
    enum fetch_resume resume;
    const char *etag; /* the content that is meant, without its quotes; NULL or "": any */
    int64_t bytes;    /* its length; -1: unknown */
    /*
     * Says in `failure` what a refusal means. Called after each attempt without content, that without
     * a reply included (then the verdict does not count and nothing need be said). NULL: the status
     * is named.
     */
    enum fetch_verdict (*refused)(void *context,
                                  const struct fetch_reply *reply,
                                  struct failure *failure);
    void *context; /* of both functions */
};

struct fetch;

/* Returns when the content begins to arrive. *fetch is written on success only. */
bool fetch_open(struct fetch_client *client,
                const struct fetch_request *request,
                struct fetch **fetch,
                struct failure *failure);

/* Up to n bytes (n > 0); *got is 0 at the end, and there only. After a failure it can only be closed. */
bool fetch_read(struct fetch *fetch, void *bytes, size_t n, size_t *got, struct failure *failure);

/* Was the content cut and taken up again? */
bool fetch_was_resumed(const struct fetch *fetch);

/* The value of a header of the last reply; NULL: it has none. Valid until the next call. */
const char *fetch_header(const struct fetch *fetch, const char *name);

/* NULL is allowed. */
void fetch_close(struct fetch *fetch);

/*
 * The whole content as a text, of bytes_max bytes at most (more is a failure): for pages and
 * documents. *text is NUL-terminated behind its *n bytes and freed by the caller.
 */
bool fetch_text(struct fetch_client *client,
                const struct fetch_request *request,
                size_t bytes_max,
                char **text,
                size_t *n,
                struct failure *failure);

#endif
