/*
 * Source: S. Ripamonti, xSpark, thesis, Politecnico di Milano 2017, section 3.4 and table 3.1.
 * Cost: one sort and two passes.
 */
#include "core/deadline/worker_memory.h"

#include <stdlib.h>

#include "base/order.h"

struct launch {
    double deadline_s;
    size_t index;
};

static int by_deadline(const void *a, const void *b)
{
    const struct launch *left = a;
    const struct launch *right = b;
    int order = compare_double(left->deadline_s, right->deadline_s);
    return order != 0 ? order : compare_size(left->index, right->index);
}

/* Each of n shares the pool as a whole number of bytes. */
static int64_t even_share(int64_t bytes, size_t n)
{
    return n == 0 ? WORKER_MEMORY_NONE : bytes / (int64_t)n;
}

static void start_those_that_fit(int64_t system_bytes,
                                 const struct launch launches[],
                                 const struct worker_memory_application applications[],
                                 size_t n,
                                 struct worker_memory_share shares[],
                                 struct worker_memory *plan)
{
    *plan = (struct worker_memory){.pool_bytes = system_bytes,
                                   .equal_heap_bytes = even_share(system_bytes, n)};
    for (size_t i = 0; i < n; i++) {
        size_t at = launches[i].index;
        shares[at].starts = applications[at].heap_bytes <= plan->pool_bytes;
        if (!shares[at].starts)
            continue;
        plan->pool_bytes -= applications[at].heap_bytes;
        plan->heap_bytes += applications[at].heap_bytes;
        plan->running++;
        plan->users += applications[at].off_heap;
    }
    plan->each_bytes = even_share(plan->pool_bytes, plan->users);
}

static struct worker_memory_share share_out(const struct worker_memory_application *application,
                                            bool starts,
                                            const struct worker_memory *plan)
{
    struct worker_memory_share share = {.off_heap_bytes = WORKER_MEMORY_NONE,
                                        .total_bytes = WORKER_MEMORY_NONE,
                                        .after_end_bytes = WORKER_MEMORY_NONE};
    if (!starts)
        return share;
    share.starts = true;
    share.off_heap_bytes = application->off_heap ? plan->each_bytes : 0;
    share.total_bytes = application->heap_bytes + share.off_heap_bytes;
    share.after_end_bytes =
        even_share(plan->pool_bytes + application->heap_bytes, plan->users - application->off_heap);
    return share;
}

enum pv_code worker_memory_share_out(int64_t system_bytes,
                                     enum worker_memory_order order,
                                     const struct worker_memory_application applications[],
                                     size_t n,
                                     struct arena *scratch,
                                     struct worker_memory_share shares[],
                                     struct worker_memory *plan,
                                     struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct launch *launches = arena_array(scratch, n, sizeof *launches);
    if (launches == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        launches[i] = (struct launch){.deadline_s = applications[i].deadline_s, .index = i};
    if (order == WORKER_MEMORY_EARLIEST_DEADLINE)
        qsort(launches, n, sizeof *launches, by_deadline);
    start_those_that_fit(system_bytes, launches, applications, n, shares, plan);
    for (size_t i = 0; i < n; i++)
        shares[i] = share_out(&applications[i], shares[i].starts, plan);
    arena_rewind(scratch, mark);
    return PV_OK;
}

struct worker_memory_newcomer
worker_memory_admit(const struct worker_memory *plan, int64_t heap_bytes, bool off_heap)
{
    bool starts = heap_bytes <= plan->pool_bytes;
    return (struct worker_memory_newcomer){
        .starts = starts,
        .each_bytes = starts ? even_share(plan->pool_bytes - heap_bytes, plan->users + off_heap)
                             : WORKER_MEMORY_NONE};
}
