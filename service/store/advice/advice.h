#ifndef STORE_ADVICE_ADVICE_H
#define STORE_ADVICE_ADVICE_H

#include "core/history/run.h"
#include "store/store.h"

/*
 * Advice is kept as the reply that was sent, byte for byte, beside the columns that lists and
 * accuracy need. Lists leave out problem_size, cores_per_executor, the interval, confidence,
 * model_kind and deadline_probability, which are for store_advice_find and store/advice/accuracy.h.
 */
struct advice_row {
    char id[37];             /* UUIDv7, made by the caller before the document is written */
    char application_id[37]; /* "" for a profile that was never stored */
    struct strview application_name;
    struct strview objective;
    struct strview verdict; /* at == NULL: stored before there were verdicts */
    bool feasible;          /* the verdict is met */
    double problem_size;
    int64_t executors; /* RUN_UNKNOWN, as what follows, where the verdict is unknown */
    int64_t cores_per_executor;
    double predicted_duration_s; /* NAN: unknown */
    double lower_s;              /* its interval */
    double upper_s;
    double confidence;
    struct strview model_kind;
    double deadline_s;           /* NAN: none asked */
    double deadline_probability; /* that the recommendation meets it; NAN */
    struct strview request;      /* JSON text */
    struct strview cluster;      /* that it is for; at == NULL: none */
    int64_t due_us; /* by when its job has to be over, where a cluster is named; RUN_NO_INSTANT */
    const struct run_label *labels; /* that the question gave, for its events; not read back */
    size_t n_labels;
    struct strview document; /* JSON text of the reply */
    int64_t created_us;
};

/*
 * One round trip: advice, audit row, outbox event advice.created (and deadline.infeasible when
 * the verdict is at risk or missed; event data are ids and the headline), and the commit. Whatever tx already did is
 * committed too. *tx is NULL afterwards. event_data is the JSON object for the outbox.
 */
enum pv_code store_advice_insert_commit(struct store_tx **tx,
                                        const struct advice_row *advice,
                                        struct strview event_data,
                                        struct pv_error *err) PV_MUSTCHECK;

/* The same of several, without the commit; what they take is counted once. The transaction is about the
 * application of the last one then. */
enum pv_code store_advice_insert(struct store_tx *tx,
                                 const struct advice_row rows[],
                                 const struct strview event_data[],
                                 size_t n,
                                 struct pv_error *err) PV_MUSTCHECK;

enum pv_code store_advice_find(struct store_tx *tx,
                               struct arena *arena,
                               const char *id,
                               struct advice_row *advice,
                               struct pv_error *err) PV_MUSTCHECK;

struct advice_filter {
    const char *application_name; /* NULL: all */
    int64_t since_us;             /* given at this instant or later; RUN_NO_INSTANT: any */
    int64_t until_us;             /* given before it; RUN_NO_INSTANT: any */
    int64_t feasible;             /* 1: only feasible, 0: only infeasible, RUN_UNKNOWN: both */
    const char *verdict;          /* NULL: any */
    int64_t before_us;            /* cursor; RUN_NO_INSTANT: first page */
    char before_id[37];
    size_t limit;
};
struct advice_list {
    struct advice_row *items; /* newest first; request is not loaded */
    size_t n;
    bool more;
};
enum pv_code store_advice_list(struct store_tx *tx,
                               struct arena *arena,
                               const struct advice_filter *filter,
                               struct advice_list *list,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
