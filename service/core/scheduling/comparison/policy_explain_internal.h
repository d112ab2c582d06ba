#ifndef CORE_SCHEDULING_COMPARISON_POLICY_EXPLAIN_INTERNAL_H
#define CORE_SCHEDULING_COMPARISON_POLICY_EXPLAIN_INTERNAL_H

#include "base/code.h"
#include "core/scheduling/comparison/policy_explain.h"

enum { POLICY_TEXT_MAX = 1536 };

/* A sentence that is put together piece by piece; what is beyond the room is cut off. */
struct policy_text {
    char at[POLICY_TEXT_MAX];
    size_t n;
};

/* --- policy_explain.c --- */

/* Append to the text, as printf. */
void policy_text_add(struct policy_text *text, const char *format, ...) PV_PRINTF(2, 3);

/* "the slowdown of 95 % of the short jobs is at most", without the figure. */
void policy_add_objective(const struct policy_results *of, struct policy_text *text);

/* The name of a policy for a finding, clipped, in the arena of the findings; "" where memory ran out,
 * which they note. */
const char *
policy_name_of(const struct policy_results *of, size_t policy, struct findings *findings);

/* --- policy_warnings.c --- */

/* Add all warnings that policy_explain names. */
void policy_warn(const struct policy_results *of, struct findings *warnings);

#endif
