#ifndef CORE_DEADLINE_CONTENTION_H
#define CORE_DEADLINE_CONTENTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * One step of the supervisor that shares a cluster's cores among applications whose controllers ask
 * for more than there is (S. Ripamonti, xSpark, thesis, Politecnico di Milano 2017, sections 3.5
 * and 3.6, Alg. 3 and 5 to 7; docs/design.md, "Core allocations").
 *
 * Shares are exact numbers. A controller that grants them rounds to its quantum; this does not.
 */
struct contention_application {
    double requested_cores;    /* >= 0: what its controller asks for */
    double time_to_complete_s; /* +-1e12, negative when late; the edf strategies need it */
    double remaining_tasks;    /* >= 0; edf_all needs it */
    double nominal_rate;       /* 1e-9 to 1e18, records a second and core; speed needs it */
};

struct contention_terms {
    double gamma;                /* 0: no more than requested .. 1: all cores are given away */
    double max_cores;            /* > 0 */
    double average_nominal_rate; /* likewise, of all applications there are; scales weights */
};

/* What an application gets. */
struct contention_share {
    double weight;           /* NAN where the strategy knows none */
    double saturating_cores; /* when all cores are given away */
    double cores;            /* after gamma */
};

struct contention_outcome {
    double requested_cores; /* sum */
    bool contention;        /* it exceeds max_cores */
};

enum contention_needs {
    CONTENTION_NEEDS_TIME = 1,
    CONTENTION_NEEDS_TASKS = 2,
    CONTENTION_NEEDS_RATE = 4
};

struct contention_step; /* contention.c: the inputs, working memory and shares of one step */

/* A way to give all cores away. Another one is another row. */
struct contention_strategy {
    const char *name;
    unsigned needs; /* members of the applications that must be known */
    void (*weigh)(const struct contention_step *step);    /* NULL: it knows no weights */
    void (*saturate)(const struct contention_step *step); /* some core is requested */
};

enum { CONTENTION_STRATEGIES = 5, CONTENTION_PROPORTIONAL = 3 };
extern const struct contention_strategy contention_strategies[CONTENTION_STRATEGIES];
/* Their names, ended by NULL. */
extern const char *const contention_strategy_words[CONTENTION_STRATEGIES + 1];

/*
 * Share the cores among n >= 1 applications. shares[i] belongs to applications[i].
 *
 * Under contention the shares are the saturating ones; without, gamma blends them with the
 * requests. Saturating shares below 0.99 max_cores are scaled up to it. Where nobody requests
 * anything, everybody gets 0. Equal times to complete: the earlier index first.
 *
 * scratch is back at its mark when the call returns. shares and *outcome are written only on PV_OK.
 * PV_E_MEMORY. O(n log n) time: Alg. 7's rounds end where a single pass in order of
 * request/weight does (see contention.c).
 */
enum pv_code contention_resolve(const struct contention_strategy *strategy,
                                const struct contention_terms *terms,
                                const struct contention_application applications[],
                                size_t n,
                                struct arena *scratch,
                                struct contention_share shares[],
                                struct contention_outcome *outcome,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
