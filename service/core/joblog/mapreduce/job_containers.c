/*
 * Containers: MapReduce runs an attempt of a task in each, with one core. Counted are those that
 * were there at once, in all and on each node.
 */
#include <stdlib.h>

#include "base/order.h"
#include "core/joblog/mapreduce/mapreduce_internal.h"

int64_t job_containers_end_ms(const struct mapreduce *log)
{
    return log->finish_ms != NO_TIME ? log->finish_ms : log->reader.last_ms;
}

/* A container comes or goes. */
struct change {
    int64_t at_ms;
    int64_t more; /* 1 or -1 */
    uint32_t node;
};

/* A container given back at an instant may be had again at it. */
static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a;
    const struct change *y = b;
    int order = compare_int64(x->at_ms, y->at_ms);
    return order != 0 ? order : compare_int64(x->more, y->more);
}

static size_t collect_changes(const struct mapreduce *log, struct change changes[])
{
    size_t n = 0;
    for (size_t i = 0; i < log->n_attempts; i++) {
        const struct job_attempt *attempt = &log->attempts[i];
        int64_t start = attempt->start_ms;
        if (start == NO_TIME)
            continue;
        int64_t end =
            attempt->finish_ms != NO_TIME ? attempt->finish_ms : job_containers_end_ms(log);
        changes[n++] = (struct change){start, 1, attempt->node};
        /* One that takes no time at all is there all the same. */
        changes[n++] = (struct change){end > start ? end : start + 1, -1, attempt->node};
    }
    return n;
}

bool job_containers_count(struct mapreduce *log, struct arena *arena, struct run *run)
{
    struct arena_mark mark = arena_mark(arena);
    struct change *changes = arena_array(arena, log->n_attempts, 2 * sizeof *changes);
    if (changes == NULL)
        return false;
    size_t n = collect_changes(log, changes);
    if (n > 0)
        qsort(changes, n, sizeof *changes, compare_changes);
    int64_t there = 0;
    int64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        there += changes[i].more;
        most = there > most ? there : most;
        log_nodes_hold(&log->nodes, changes[i].node, changes[i].more);
    }
    arena_rewind(arena, mark);
    run->executors = most > 0 ? most : RUN_UNKNOWN;
    run->cores_per_executor = most > 0 ? 1 : RUN_UNKNOWN;
    run->executors_added = (int64_t)(n / 2);
    return log_nodes_build(&log->nodes, arena, run);
}
