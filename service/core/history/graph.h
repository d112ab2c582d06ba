#ifndef CORE_HISTORY_GRAPH_H
#define CORE_HISTORY_GRAPH_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"

/*
 * Do two runs have the same stage graph? Stages are matched by their place in ascending order of
 * id, not by the id itself, which shifts between runs of one application; each must have the
 * same parents and be skipped in both or in neither. Names, task counts and times do not count.
 *
 * scratch is back at its mark when the call returns. PV_E_MEMORY.
 */
enum pv_code run_graph_compare(const struct run *a,
                               const struct run *b,
                               struct arena *scratch,
                               bool *equal,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
