#ifndef CORE_SCALING_DRIFT_DRIFT_DETECTION_H
#define CORE_SCALING_DRIFT_DRIFT_DETECTION_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/scaling/drift/cusum.h"
#include "core/scaling/model/observation.h"

/*
 * Watches the runs of a history in the order of their time: has the application become slower or
 * faster, and which runs speak for nothing but themselves?
 *
 * Drift. Each run is compared with what the runs before it promise: the mean logarithm of those of
 * its group with its own N and m where there are DRIFT_REPEATS of them, else a law fitted to all of
 * its group (Ernest, relative errors). The error, ln(actual / promised), is standardised by those
 * before it (Student's t with a prior of DRIFT_PRIOR_RUNS runs of DRIFT_PRIOR_SPREAD, mapped to the
 * normal), wider by as much as successive errors resemble each other, so that seasons do not pass
 * for drift, and goes into a CUSUM (core/scaling/drift/cusum.h). While either side has something
 * added up, the runs concerned are not learnt from: a level that moves must not drag along what it
 * is compared with. A signal says since which run, by how much (the mean error since) and in which
 * direction; what was promised moves with it, and the watch goes on from there: there may be
 * several.
 *
 * Old runs fade: each run from the change on halves the weight of those before it, down to
 * DRIFT_LEAST_WEIGHT, so that they still show the shape of the law where nothing newer does. The
 * model has caught up when DRIFT_CAUGHT_UP runs came after the one that gave the drift away,
 * without another, and those since the change weigh more than all older ones together.
 *
 * Outliers, among the runs since the last change: a run whose logarithm is more than
 * DRIFT_OUTLIER robust standard deviations (1.4826 times the median absolute deviation, at least
 * DRIFT_NOISE) from the median of the others of its group with its own N and m counts
 * (DRIFT_OUTLIER / deviations)^2. So a place where the law errs, such as few executors out of
 * memory, makes none of its runs an outlier. A run that is alone at its place is compared with the
 * law of its group fitted without it, unless it stands at an end of what was observed: nobody knows
 * there.
 *
 * Starved runs, and those much of whose work failed, did not run as their executors would have:
 * they count DRIFT_TROUBLED_WEIGHT.
 */
enum { DRIFT_REPEATS = 3, DRIFT_WARM_UP = 6, DRIFT_CAUGHT_UP = 3 };

/* The prior is that of replays (CURVE_PRIOR_FREEDOM, CURVE_PRIOR_SPREAD). Half a standard error is
 * the reference that finds a shift of one soonest (E. S. Page, "Continuous inspection schemes",
 * Biometrika 41, 1954). 3.5 is the usual bound of robust scores (B. Iglewicz, D. C. Hoaglin, "How
 * to Detect and Handle Outliers", 1993). The others are our choice; DRIFT_NOISE is the least that
 * runs of one configuration scatter by, DRIFT_LAW_NOISE the least that a law errs by. */
#define DRIFT_PRIOR_RUNS 3.0
#define DRIFT_PRIOR_SPREAD 0.1
#define DRIFT_REFERENCE 0.5     /* of the CUSUM, in standard errors */
#define DRIFT_RUN_LENGTH 1000.0 /* runs between false alarms, on the mean */
#define DRIFT_OUTLIER 3.5
#define DRIFT_NOISE 0.02
#define DRIFT_LAW_NOISE 0.05
#define DRIFT_TROUBLED_WEIGHT 0.25
#define DRIFT_LEAST_WEIGHT 0.001
/* A run is starved below that share of what runs usually have of their executors on the mean. */
#define DRIFT_STARVED_SHARE 0.75
/* Much of the work failed above that share of task time. */
#define DRIFT_FAILED_SHARE 0.1

/* A run of known duration. What is unknown is NAN. */
struct drift_run {
    struct observation seen;
    /* Only runs of one group are compared: with the same labels where these make a difference, on
     * executors alike. observation.context says nothing here. */
    uint64_t group;
    double executors_asked; /* for as many it asked; more than `executors`: few came */
    double executors_share; /* executors there on the mean, of `executors` */
    double failed_share;    /* of the task time that came to nothing */
};

enum drift_reason {
    DRIFT_FULL,    /* the run counts in full */
    DRIFT_STARVED, /* fewer executors than asked, or than it had at its best */
    DRIFT_FAILURES,
    DRIFT_OUTLYING,
    DRIFT_FADED /* from before a drift */
};

/* Word for a reason, as it stands on the wire. */
const char *drift_reason_name(enum drift_reason reason);

struct drift_verdict {
    double weight;            /* (0, 1] */
    enum drift_reason reason; /* the one that takes most off */
    double promised_s;        /* of an outlier; NAN */
    double deviations;        /* robust standard deviations off; NAN */
};

enum drift_state {
    DRIFT_UNKNOWN, /* no run could be compared */
    DRIFT_STABLE,
    DRIFT_PRESENT,
    DRIFT_SETTLED /* it drifted, and the model has caught up */
};

const char *drift_state_name(enum drift_state state);

/* The last drift, if any; indices are into the runs. */
struct drift {
    enum drift_state state;
    size_t judged; /* runs that were compared */
    struct cusum_rule rule;
    double up; /* the sums as they stand */
    double down;
    size_t drifts;
    /* Where there was one: */
    size_t since;    /* the first run of the new level */
    size_t detected; /* the run that gave it away */
    bool slower;
    double change_percent; /* of the duration, by the runs since */
    size_t runs_since;
};

/*
 * runs     n, in the order of their time; borrowed
 * verdicts one a run
 * scratch  back at its mark when the call returns
 * PV_E_MEMORY. No global state; the same runs have the same answer. About as many fits for
 * each group as the logarithm of its runs, also where none succeeds, and O(n log n) comparisons.
 */
enum pv_code drift_watch(const struct drift_run runs[],
                         size_t n,
                         struct arena *scratch,
                         struct drift_verdict verdicts[],
                         struct drift *drift,
                         struct pv_error *err) PV_MUSTCHECK;

#endif
