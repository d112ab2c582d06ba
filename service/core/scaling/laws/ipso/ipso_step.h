#ifndef CORE_SCALING_LAWS_IPSO_IPSO_STEP_H
#define CORE_SCALING_LAWS_IPSO_IPSO_STEP_H

#include "base/arena.h"
#include "core/scaling/laws/ipso/growth_law.h"

/*
 * A step in how something grows, as the serial part of a job takes one when what it merges no
 * longer fits into memory (IPSO section 2.5, TeraSort): a line up to some count, another line
 * further up beyond.
 */
struct step_piece {
    double offset; /* the piece is offset + slope n */
    double slope;
};

struct step {
    bool found;
    double last_before; /* the counts on both sides */
    double first_after;
    double at; /* halfway: where the jump is measured */
    struct step_piece before;
    struct step_piece after;
    double jump_percent; /* the second line there, above the first */
    double p_value;      /* of the F test, times the places tried */
};

/*
 * Two lines over every place that leaves three distinct counts on each side, against the best of
 * what has no step: a constant, a power, a line, a bent line, two lines that meet. A step is found
 * where the two lines are better by BIC, an F test against one curve gives p below 1 % even when
 * multiplied by the places tried (C. E. Bonferroni), and the jump goes up by a tenth at least: two
 * straight lines follow any curve better than one does, but they meet where it has no step.
 *
 * n >= 1 ascending, y >= 0, borrowed. Fewer than 7 rows: none is found. O(rows^2). PV_E_MEMORY.
 */
enum pv_code step_find(const double n[],
                       const double y[],
                       size_t rows,
                       struct arena *scratch,
                       struct step *step,
                       struct pv_error *err) PV_MUSTCHECK;

/* The lines anew on both sides of a step that was found, from other rows. Unchanged where a side
 * has fewer than two distinct counts. */
void step_refit(const double n[], const double y[], size_t rows, struct step *step);

#endif
