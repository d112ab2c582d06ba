#ifndef STORE_ADVICE_ACCURACY_H
#define STORE_ADVICE_ACCURACY_H

#include "store/history/application.h"
#include "store/store.h"

/* Runs beside the advice that they name. */

/* Bounds the cost of a summary, however long the history of the application. */
enum { ACCURACY_SUMMARY_RUNS = 1000 };

/* One run and what the advice it names said. Counts are RUN_UNKNOWN, numbers NAN where unknown. */
struct accuracy_row {
    char run_id[37];
    char advice_id[37];
    int64_t instant_us; /* of the run: the sort key */
    bool succeeded;
    double problem_size; /* of the run */
    int64_t executors;
    int64_t cores_per_executor;
    double duration_s;
    double advised_problem_size;
    int64_t advised_executors;
    int64_t advised_cores_per_executor;
    double predicted_duration_s;
    double lower_s;
    double upper_s;
    double confidence;
    struct strview model_kind;
    /* Worked out beside the data, for the list and the summary alike. */
    bool compared;        /* succeeded, with a duration, not known to have run on something else */
    double error_percent; /* 100 (predicted - actual) / actual; NAN: not succeeded or unknown */
    bool inside_known;
    bool inside; /* actual within [lower, upper] */
};

struct accuracy_summary {
    bool newest_only; /* over the ACCURACY_SUMMARY_RUNS newest runs that name advice; else over all
                       */
    int64_t runs;     /* of those, that name advice which is still there */
    int64_t compared; /* of them; the rest is over these */
    double mape_percent;       /* NAN: none compared */
    double mean_error_percent; /* > 0: predictions are too long; NAN */
    double inside_interval;    /* share; NAN */
    double confidence;         /* mean of those intervals: the share that should be; NAN */
};

struct accuracy_filter {
    int64_t before_us; /* cursor; RUN_NO_INSTANT: first page */
    char before_id[37];
    size_t limit;
};

struct accuracy_list {
    struct accuracy_row *items; /* newest first */
    size_t n;
    bool more;
    struct accuracy_summary summary; /* whatever the page */
};

/* PV_E_MEMORY and what a transaction can fail with. */
enum pv_code store_accuracy_list(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 const struct accuracy_filter *filter,
                                 struct accuracy_list *list,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
