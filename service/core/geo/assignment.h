#ifndef CORE_GEO_ASSIGNMENT_H
#define CORE_GEO_ASSIGNMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/code.h"

/*
 * Tasks to clusters with limited room so that the costs, written in falling order, come out least:
 * first the greatest cost, then the second, and so on (lexicographic min-max).
 *
 * Every task first goes where it is cheapest and there is room, pushing others aside where there is
 * none (augmenting paths). Then the most expensive placement, of cost T, is taken back and another
 * one looked for in which every task that moves costs less than T. When there is none, the tasks
 * and clusters reached prove that no placement does without a cost of T (Hall's condition), so this
 * one is fixed and the next most expensive is looked at. The greatest cost is therefore always the
 * least possible; the whole order is, too, where different placements have different costs; among
 * equal costs the first one met is fixed. The tasks that find no room are the last of the list.
 */
struct assignment {
    size_t n_tasks;
    size_t n_clusters;
    const double *const *row; /* of each task: cost per weight in each cluster; HUGE_VAL: never */
    const double *base;       /* of each task, on top */
    const double *weight;     /* of each task, > 0 */
    const int64_t *capacity;  /* of each cluster */
};

static const size_t ASSIGNMENT_NONE = SIZE_MAX;

/*
 * place[i]  cluster of task i, ASSIGNMENT_NONE where all that could run it are full.
 *
 * Working memory is in `arena`. PV_E_MEMORY or PV_OK.
 *
 * Time: O(n_tasks n_clusters) where room is ample; a search that moves others costs at most
 * O(n_clusters^2), and the upkeep of what can move where. Searches stop after a fixed amount of
 * work, and what is placed by then stays: the greatest costs are looked at first.
 */
enum pv_code assignment_solve(const struct assignment *assignment,
                              struct arena *arena,
                              size_t place[]) PV_MUSTCHECK;

#endif
