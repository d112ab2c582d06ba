#ifndef CORE_HISTORY_ACCURACY_H
#define CORE_HISTORY_ACCURACY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strview.h"
#include "core/history/run.h"

/* How well advice held: what it predicted and promised against the runs that followed it. */

/* One run that names advice. */
struct accuracy_entry {
    struct strview application;
    struct strview model; /* that predicted */
    bool compared;        /* succeeded, and not known to have run on something else than advised */
    double error_percent; /* 100 (predicted - actual) / actual; of those compared */
    bool inside_known;
    bool inside;       /* the interval */
    double confidence; /* of the interval; NAN: unknown */
    double promised;   /* probability of meeting the deadline; NAN: there was none */
    bool met;          /* the deadline */
};

/* What advice said, as far as one run can be held against it. */
struct accuracy_advised {
    int64_t executors;
    int64_t cores_per_executor;
    double interval_s[2]; /* NAN: open */
    double deadline_s;    /* NAN: none */
};

/* Where the duration of a run that followed lies: inside, faster or slower; other where it failed,
 * ran on other executors, or the advice had no interval. A word. */
const char *accuracy_interval(const struct run *run, const struct accuracy_advised *advised);

/* met or missed; NULL: there was no deadline, or nobody knows when the run ended. */
const char *accuracy_deadline(const struct run *run, const struct accuracy_advised *advised);

/* Promises of about the same probability: p in [i/10, (i+1)/10), the last with 1. */
enum { ACCURACY_BINS = 10 };

struct accuracy_promises {
    size_t runs;
    double promised; /* mean probability; NAN: no runs */
    double met;      /* share that met its deadline */
};

/* Everything but count is over those compared; NAN where there are none of a sort. */
struct accuracy {
    size_t count;
    size_t compared;
    double mape_percent;
    double median_ape_percent; /* of the absolute errors, type 7 */
    double mean_error_percent; /* above 0: predictions are too long */
    size_t intervals;          /* runs whose interval is known */
    double inside_interval;    /* share of them */
    double nominal;            /* mean confidence of them: what that share should be */
    struct accuracy_promises deadlines;
    struct accuracy_promises bins[ACCURACY_BINS];
};

/* Sums run in the order given. PV_E_MEMORY. O(n log n). */
enum pv_code accuracy_of(const struct accuracy_entry entries[],
                         size_t n,
                         struct arena *scratch,
                         struct accuracy *record,
                         struct pv_error *err) PV_MUSTCHECK;

struct accuracy_group {
    struct strview name; /* at == NULL: unknown */
    struct accuracy record;
};

struct accuracy_groups {
    struct accuracy_group *items; /* by name, bytewise */
    size_t n;
};

/* A record for each application, or for each model. PV_E_MEMORY; groups->items lives in `arena`. */
enum pv_code accuracy_by_application(const struct accuracy_entry entries[],
                                     size_t n,
                                     struct arena *arena,
                                     struct accuracy_groups *groups,
                                     struct pv_error *err) PV_MUSTCHECK;
enum pv_code accuracy_by_model(const struct accuracy_entry entries[],
                               size_t n,
                               struct arena *arena,
                               struct accuracy_groups *groups,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
