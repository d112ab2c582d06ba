#ifndef DISPATCH_SENDER_H
#define DISPATCH_SENDER_H

#include <stdatomic.h>

#include "base/error.h"
#include "dispatch/signature.h"
#include "dispatch/target.h"

/*
 * The thread that sends: it owns libcurl's multi handle, and knows nothing of the database. Deliveries
 * come in by lanes, one for each endpoint, which bound how many are under way at a time and take turns,
 * so one that hangs holds up no other. What they come to is put into a queue for whoever submitted them.
 *
 * A team has at most a quarter of connections_max under way (at least 8), and a host, to which many lanes
 * may lead, gets as many (at least 32). The last eighth of all (at least 1), and up to twice the bound of a
 * host, are for lanes that have nothing under way: a team that uses all it may keeps no endpoint of another
 * team from its first attempt.
 *
 * Whether an address may be connected to is decided for the very address, when its socket is opened,
 * for each that a name has. Connections are kept and used again, at most for five minutes, which is safe
 * since one policy holds for all of them: a process has one sender.
 */
struct sender;

enum { ANSWER_KEPT = 1024, ANSWER_READ_MAX = 64 << 10, SEND_ERROR_TEXT = 192 };

struct sender_options {
    const struct target_policy *policy; /* lives as long as the sender */
    int64_t connections_max;
    int64_t timeout_ms; /* of an attempt */
    int64_t connect_timeout_ms;
    const char *ca_file; /* NULL: those of the system */
    void (*ready)(
        void *context); /* called by the sender when there are outcomes; only wakes somebody */
    void *context;
};

/* libcurl, once for the process, before it has threads. false: no memory. */
bool sender_init_library(void);

enum pv_code sender_create(const struct sender_options *options,
                           struct sender **sender,
                           struct pv_error *err) PV_MUSTCHECK;

/* Nothing more is begun; what is under way ends, or is cut off after end_ms. Then its outcomes and
 * those of what was not begun (attempted: false) are there to be taken. */
void sender_stop(struct sender *sender, int64_t end_ms);
void sender_destroy(struct sender *sender); /* stopped; NULL: nothing to do */

/* The lane of an endpoint, the caller's memory: it lasts until the outcomes of all that was submitted
 * by it have been taken. */
struct sender_lane {
    atomic_llong limit;      /* under way at a time; may be changed at any moment */
    atomic_bool is_recalled; /* what is not under way is given back: attempted is false */
    const char *team;        /* its id; of the caller, for as long as the lane */
    /* The sender's: */
    long long running;
    struct transfer *first;
    struct transfer *last;
    struct sender_lane *next;
    bool listed;
};

/* Of the lane nothing more is begun, until sender_lane_open. Does not wait. */
void sender_recall(struct sender *sender, struct sender_lane *lane);

/* An empty lane of this team, whose id is borrowed for as long as the lane lasts. */
void sender_lane_open(struct sender_lane *lane, const char *team, int64_t limit);

struct sender_delivery {
    struct sender_lane *lane;
    void *flight; /* the caller's, given back with the outcome */
    struct strview url;
    struct strview authorization; /* n == 0: none */
    const struct signing_secret *secrets;
    size_t n_secrets;
    const char *id; /* webhook-id */
    const char *content_type;
    struct strview body;
};

/* Copies all of it. PV_E_MEMORY; PV_E_UNAVAILABLE after sender_stop. */
enum pv_code sender_submit(struct sender *sender,
                           const struct sender_delivery *delivery,
                           struct pv_error *err) PV_MUSTCHECK;

struct sender_outcome {
    struct sender_outcome *next;
    void *flight;
    bool attempted;    /* false: it was not begun, or cut off by the end of the process */
    long status;       /* of the answer; 0: there was none */
    bool complete;     /* the answer came to its end, or is longer than is read */
    int64_t at_us;     /* when it began, by the wall clock */
    uint64_t began_ns; /* likewise, by the monotonic clock */
    int64_t duration_ms;
    int64_t retry_after_ms;      /* as the endpoint asks; 0: not at all */
    char error[SEND_ERROR_TEXT]; /* "": none */
    size_t answer_n;
    char answer[ANSWER_KEPT + 1]; /* its first bytes, as valid UTF-8 */
};

/* Those that there are, in the order in which they ended, or NULL; sender_outcomes_free ends them. */
struct sender_outcome *sender_take_outcomes(struct sender *sender);
void sender_outcomes_free(struct sender_outcome *outcomes);

/* The answer was a success: 2xx, and complete. */
bool sender_succeeded(const struct sender_outcome *outcome);

#endif
