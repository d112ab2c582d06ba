#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include "http/fields.h"
#include "http/problem.h"
#include "http/state.h"

/*
 * One request and its answer, from the request line to the last byte sent.
 *
 * It is held by its connection and, while a job runs, by a worker; whoever lets go last frees it.
 * A job that does not end in time loses its connection to the sweeper: `state` decides by one
 * compare-and-swap who of the two answers. The loser's work is thrown away, its memory lives on
 * until it is done.
 */
enum exchange_stage {
    STAGE_HEADERS,        /* nothing decided yet */
    STAGE_AUTHENTICATING, /* job: who is it? */
    STAGE_BEGINNING,      /* job: stream begin */
    STAGE_BODY,           /* takes pieces */
    STAGE_PIECE,          /* job: stream piece */
    STAGE_WORKING,        /* job: the handler, or stream finish */
    STAGE_DISCARDING,     /* the answer is known; the little that is left of the body is dropped */
    STAGE_DRAINING,       /* answered past the library; drops what the client still sends */
    STAGE_REPLIED,
    STAGE_FILLING /* replied, and a job makes the next piece of the body */
};

enum exchange_state {
    JOB_NONE,
    JOB_RUNNING,
    JOB_DONE,    /* the worker answers */
    JOB_EXPIRED, /* the sweeper took the connection back */
    JOB_REFUSED  /* no queue took it, or its place was given to another team's (refusal) */
};

enum exchange_park {
    PARK_NONE,
    PARK_TICKET, /* somebody may wake it; its worker is still at it */
    PARK_WOKEN,  /* and did */
    PARK_PARKED  /* no worker has it */
};

typedef void (*exchange_job)(struct exchange *x);

struct exchange {
    struct http_server *server;
    struct client *client; /* not for workers: it may be gone when a job has expired */
    struct MHD_Connection *connection;
    atomic_uint holders;
    struct ledger_account account; /* of what is taken for the request */
    struct arena arena;
    struct http_request request;
    struct http_response response;
    bool failed; /* response holds a problem */

    /* Of refusals by whoever has the exchange: not counted, for there may be no memory to count. */
    struct arena refusal_arena;
    /* while the worker still has the arena, the sweeper's answer needs its own */
    struct arena late_arena;
    struct http_response late_response;

    const char *target; /* raw, in the arena */
    const struct http_resource *resource;
    const struct http_route *route;
    enum http_method_label label;
    struct http_framing framing;
    bool counted;                      /* in flight */
    bool close;                        /* the connection ends with this answer */
    const char *token;                 /* as sent, or NULL */
    bool authenticated;                /* the token is valid; the server thread's */
    char presumed_team[WORKERS_OWNER]; /* whose queue the token is asked for in; "": nobody's */
    uint8_t trace_flags;

    enum exchange_stage stage;
    _Atomic enum exchange_state state;
    _Atomic enum http_refusal refusal;
    exchange_job job;
    unsigned step;          /* of the call, that the job is at or begins with */
    bool state_made;        /* the call's end is owed */
    struct arena_mark mark; /* of the arena before the call */
    enum http_again next;   /* the job is to go on at another place, or when it is woken */
    _Atomic enum exchange_park park;
    _Atomic bool body_goes_on; /* after this job; set before the job, unchanged until it is done */
    _Atomic bool taken;        /* a worker has begun the job */
    _Atomic uint64_t waiting_ns; /* since when it has been queued */
    atomic_bool left;            /* its client ended its side meanwhile */
    _Atomic uint64_t turn_ns;    /* deadline of the turn under way; 0: there are no turns */

    char *body;
    size_t body_n;
    size_t body_capacity;
    uint64_t received;       /* all bytes of the body that came, kept or not */
    uint64_t reading_ns;     /* what an upload's client has taken so far, without our own work */
    uint64_t reads_since_ns; /* since when it is waited for */

    bool stream_open; /* end() is owed */
    void *stream;
    const struct pv_error *refusal_of_stream; /* being noted on an io worker; NULL: none */

    const struct http_source *source; /* not NULL: end() is owed */
    void *source_state;
    const char *piece; /* being sent; the source's */
    size_t piece_n;
    size_t piece_at;
    bool http_1_0; /* knows no chunks */

    uint64_t started_ns;
    unsigned status; /* answered */
    size_t sent_bytes;
    struct exchange *next_ended; /* of the orphans or the spare ones */
};

/* NULL: memory is exhausted. */
struct exchange *
exchange_create(struct http_server *server, struct client *client, const char *uri);

/* on_io: on an io worker, where end() of an open stream may be called; else one does it. */
void exchange_release(struct exchange *x, bool on_io);

/* Those kept for requests to come; when none can come any more. */
void exchange_free_spare(struct http_server *server);

/* Ask io workers again to end the streams that a full queue left over. */
void exchange_retry_orphans(struct http_server *server);

/* Make the answer a problem. err->code must be set. */
void exchange_fail(struct exchange *x, const struct pv_error *err);
/* The same where the service takes no more; of memory when the account was refused some. */
void exchange_refuse(struct exchange *x, enum http_refusal why);
void exchange_refuse_memory(struct exchange *x);

/* Does it change nothing, so that the scope `read` does, too (http_call.only_reads)? */
bool exchange_only_reads(const struct exchange *x);

/* The scope that it needs: "read", "write" or "admin"; "" where it needs none or has no route. */
const char *exchange_scope_name(const struct exchange *x);

/* Is there to be a line in the log about this request? Those of strangers are bounded. */
bool exchange_takes_line(struct exchange *x);

/* Jobs: run on workers (the handler of an inline route on the server's thread). */
void exchange_authenticate(struct exchange *x);
void exchange_handle(struct exchange *x);
void exchange_stream_begin(struct exchange *x);
void exchange_stream_piece(struct exchange *x);
void exchange_stream_finish(struct exchange *x);
void exchange_source_next(struct exchange *x);

/* Where the handler's first step runs: decided by its steps and by the size of the body. */
enum http_place exchange_first_place(const struct exchange *x);

/*
 * Suspend the connection and hand the job to the workers of that place, in this order: a worker may
 * resume it at once. The library calls serve_request again afterwards, where x->state says how it
 * went. false: there is no room for it or the server stops; nothing was suspended, x holds the
 * answer.
 */
bool exchange_submit(struct exchange *x, enum http_place place, exchange_job job);

/* A parked job goes on with an io worker. false: none has room, it stays parked. */
bool exchange_take_up(struct exchange *x);

/* reply.c: hand x's answer (or the sweeper's) to the library, or past it. */
enum MHD_Result exchange_reply(struct exchange *x, struct MHD_Connection *connection);
void exchange_reply_raw(struct exchange *x);

#endif
