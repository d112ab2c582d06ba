#ifndef HTTP_OPTIONS_H
#define HTTP_OPTIONS_H

#include "config/config.h"
#include "http/reply_members.h"
#include "http/route.h"
#include "resources/resources.h"

/* What /readyz reports about a service that is ready. */
struct http_readiness {
    bool clock_skew_known;
    double clock_skew_s; /* how far the database's clock is ahead of this machine's */
};

/* What a server is opened with: its settings, the calls it serves, and whom it asks. */
struct http_server_options {
    const struct config *config;
    struct resources *resources;     /* that requests hold some of */
    const struct http_route *routes; /* ended by a NULL template */
    /* What ?fields= may name, a row a call; NULL: nothing. */
    const struct http_reply_members *reply_members;
    void *context; /* for handlers */
    /*
     * Who holds this bearer token ("prv_..." as sent)? PV_E_UNAUTHENTICATED, PV_E_UNAVAILABLE.
     * Called from io workers (it may ask PostgreSQL); what it answered is remembered for
     * config->token_cache_ms (http/token_cache.h), which keeps most requests from that detour.
     */
    enum pv_code (*authenticate)(void *context,
                                 const char *token,
                                 struct principal *who,
                                 struct pv_error *err);
    /* Can this be a token at all, by its text alone? NULL: anything can. Called by the server's
     * threads, so it asks nobody. */
    bool (*recognize)(const char *token);
    void *owner; /* for the two below */
    /* Fill in /readyz beyond "not draining"; *seen is zero before. */
    enum pv_code (*ready)(void *owner, struct http_readiness *seen, struct pv_error *err);
    /* Bring metrics that are measured, not counted, up to date before /metrics is printed; may be
     * NULL. */
    void (*collect_metrics)(void *owner);
};

#endif
