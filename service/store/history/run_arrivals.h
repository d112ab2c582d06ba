#ifndef STORE_HISTORY_RUN_ARRIVALS_H
#define STORE_HISTORY_RUN_ARRIVALS_H

#include "core/history/run.h"
#include "store/store.h"

/*
 * The runs of several applications in the order in which they arrived, page after page, with what
 * their tasks took: to make a workload of. A run arrives when it was submitted; where that is not
 * known, when it was recorded. All texts of results live in `arena`.
 */
struct run_application {
    char id[37];
};

struct run_arrival {
    char id[37];
    size_t application; /* place among those asked for */
    int64_t instant_us;
    bool submitted; /* the instant is its submission */
    bool succeeded;
    const struct run_stage *stages; /* with tasks; none of a run that failed */
    size_t n_stages;
};

struct run_arrivals_filter {
    const struct run_application *applications;
    size_t n_applications;
    int64_t since_us; /* RUN_NO_INSTANT: open, as until_us, which is exclusive */
    int64_t until_us;
    int64_t after_us; /* the last run seen; RUN_NO_INSTANT: the first page */
    char after_id[37];
    size_t limit;
    size_t tasks_most; /* a page ends early where it would hold more; it holds one run at least */
};

struct run_arrivals {
    struct run_arrival *items;
    size_t n;
    bool more;
};

enum pv_code store_run_arrivals(struct store_tx *tx,
                                struct arena *arena,
                                const struct run_arrivals_filter *filter,
                                struct run_arrivals *page,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
