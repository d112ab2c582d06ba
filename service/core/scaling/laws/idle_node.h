#ifndef CORE_SCALING_LAWS_IDLE_NODE_H
#define CORE_SCALING_LAWS_IDLE_NODE_H

#include "core/scaling/laws/load_cells.h"

/*
 * The odds that one of the machines counted as executors does no work (Bayes' rule): those known
 * beforehand, of runs whose executors were counted in an event log low, of others high, times what
 * the runs of each context show. The evidence is the likelihood of the plain law with m - 1 beside
 * that with m, for Cauchy-distributed errors (core/scaling/laws/worker_load.h). Contexts of fewer
 * than three executor counts show nothing of it. Histories of one team count alike, so its other
 * contexts are evidence, too.
 */

/* ln of the likelihood ratio; adds up over contexts. PV_E_MEMORY. */
enum pv_code idle_node_evidence(const struct load_cells *cells,
                                double *evidence,
                                struct pv_error *err) PV_MUSTCHECK;

/* What the rows of other contexts show, added up: data->idle_evidence. PV_E_MEMORY. */
enum pv_code idle_node_learn(struct model_data *data, struct pv_error *err) PV_MUSTCHECK;

/* PV_E_MEMORY. */
enum pv_code
idle_node_odds(const struct load_cells *cells, double *odds, struct pv_error *err) PV_MUSTCHECK;

#endif
