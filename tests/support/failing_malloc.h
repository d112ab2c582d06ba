#ifndef SUPPORT_FAILING_MALLOC_H
#define SUPPORT_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/code.h"

/*
 * Running out of memory is an ordinary error. In a program that is linked with this file and
 * failing_malloc_link_args the k-th allocation of ours fails; the libraries keep their own
 * allocator. The program's arenas take a block for each allocation, so each of those may fail too.
 */

/* Let `allocations` succeed and the one after them fail; negative: none fails. */
void failing_malloc_begin(long allocations);
/* End it. True: an allocation failed. */
bool failing_malloc_end(void);

/*
 * Run work(context) with its first allocation failing, then the one `step` behind it, and so on
 * until none does. Each run must end with PV_E_MEMORY or, where none failed, as the run with enough
 * memory does. What a run allocated it must have given back. also: another code that a run may end
 * with although an allocation failed: of a request that has a fault anyway, or PV_OK where the
 * memory was only to save time; PV_E_MEMORY: none. Returns the number of allocations of the whole
 * run; -1: `work` did not do as it must, and failing_malloc_complaint says what.
 */
long failing_malloc_run(enum pv_code (*work)(void *context),
                        void *context,
                        enum pv_code also,
                        long step);
const char *failing_malloc_complaint(void);

#endif
