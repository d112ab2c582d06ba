#ifndef API_ADVICE_ADVICE_CONTEXT_H
#define API_ADVICE_ADVICE_CONTEXT_H

#include "codec/advice/advice.h"
#include "core/advice/advise.h"
#include "store/history/run.h"
#include "store/history/run_durations.h"

/*
 * The runs that an advice is for, where labels make a difference: those with the values asked for
 * of the labels that explain the time, else with those of the latest run.
 */

/* What was found among the latest runs. */
struct advice_context {
    struct codec_history_context found; /* n_keys == 0: labels make no difference */
    unsigned *of;        /* observation.context of each duration; NULL: all are of one */
    const char *message; /* on the wire */
};

/*
 * Labels asked for whose key explains nothing are left aside; where no run has the others,
 * found.runs is 0 and found.ignored set.
 *
 * context->of lives in `loaded`, the rest in `arena`. PV_E_MEMORY.
 */
enum pv_code advice_context_find(const struct run_duration_list *durations,
                                 const struct codec_advice_request *asked,
                                 struct arena *loaded,
                                 struct arena *arena,
                                 struct advice_context *context,
                                 struct pv_error *err) PV_MUSTCHECK;

/* Its runs cannot be replayed and are too few for a model: runs of all labels are taken. */
void advice_context_ignore(struct advice_context *context);

/*
 * The ids of its runs that can be replayed, nearest in size (RUN_UNKNOWN: that of its latest run),
 * ties latest first, at most `most`; *n 0 where all runs are of one context. PV_E_MEMORY.
 */
enum pv_code advice_context_nearest(const struct advice_context *context,
                                    const struct run_duration_list *durations,
                                    int64_t problem_size,
                                    size_t most,
                                    struct arena *arena,
                                    struct run_id **ids,
                                    size_t *n,
                                    struct pv_error *err) PV_MUSTCHECK;

/* A digest of the labels asked for; zeros for none. */
void advice_context_digest(const struct codec_advice_request *asked, unsigned char digest[32]);

/* Warnings: whose labels were taken where none were asked for, and what of those asked for was not
 * used. PV_E_MEMORY. */
enum pv_code advice_context_explain(const struct codec_history_context *context,
                                    const struct codec_advice_request *asked,
                                    struct arena *arena,
                                    struct advice *advice,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif
