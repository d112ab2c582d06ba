#ifndef CORE_SCALING_LAWS_IDLE_NODE_H
#define CORE_SCALING_LAWS_IDLE_NODE_H

#include "core/scaling/laws/load_cells.h"

/*
 * The odds that one of the machines counted as executors does no work (Bayes' rule): those known
 * beforehand (core/scaling/laws/idle_share.h), times what the runs of each context show. The
 * evidence is the likelihood of the plain law with m - 1 beside that with m, for
 * Cauchy-distributed errors (core/scaling/laws/worker_load.h). A run on a single machine shows that
 * it works; otherwise contexts of fewer than three executor counts show nothing. Histories of one
 * team count alike, so its other contexts are evidence, too.
 */

/* ln of the likelihood ratio; adds up over contexts. PV_E_MEMORY. */
enum pv_code idle_node_evidence(const struct load_cells *cells,
                                double *evidence,
                                struct pv_error *err) PV_MUSTCHECK;

/* What the rows of other contexts show, added up: data->idle_evidence. PV_E_MEMORY. */
enum pv_code idle_node_learn(struct model_data *data, struct pv_error *err) PV_MUSTCHECK;

/* ln of the odds known beforehand of n >= 1 rows: by how their executors were counted, and by what
 * other applications show (observation.idle_learnt). */
double idle_node_prior(const struct observation rows[], size_t n);

/* Odds, bounded, of the logarithms of those known beforehand and of a likelihood ratio. */
double idle_node_posterior(double prior, double evidence);

/* What n rows of durations show, those of each context by themselves, added up: what a fit to them
 * learns, without any prior. PV_E_MEMORY. */
enum pv_code idle_node_shown(const struct observation rows[],
                             size_t n,
                             struct arena *arena,
                             double *evidence,
                             struct pv_error *err) PV_MUSTCHECK;

/* PV_E_MEMORY. */
enum pv_code
idle_node_odds(const struct load_cells *cells, double *odds, struct pv_error *err) PV_MUSTCHECK;

#endif
