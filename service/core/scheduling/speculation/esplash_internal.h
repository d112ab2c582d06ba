#ifndef CORE_SCHEDULING_SPECULATION_ESPLASH_INTERNAL_H
#define CORE_SCHEDULING_SPECULATION_ESPLASH_INTERNAL_H

#include "core/scheduling/speculation/esplash.h"

/* The table, and by it which nodes are stragglers. */
enum pv_code esplash_compare(const struct speculation_cluster *cluster,
                             const struct node_levels *levels,
                             const struct esplash_terms *terms,
                             struct arena *arena,
                             struct esplash_decision *decision,
                             struct pv_error *err) PV_MUSTCHECK;

/* Candidates and rechecks, once the nodes and the table are there. */
enum pv_code esplash_assess(const struct speculation_cluster *cluster,
                            const struct node_levels *levels,
                            struct arena *arena,
                            struct esplash_decision *decision,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
