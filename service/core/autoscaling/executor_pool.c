#include "core/autoscaling/executor_pool.h"

/* --- lists --- */

static struct pool_list *list_of(struct executor_pool *pool, const struct pool_executor *executor)
{
    if (executor->free < pool->cores)
        return &pool->partly[executor->free];
    return executor->holds_shuffle ? &pool->holding : &pool->idle;
}

/* Those that are busy on all cores are in no list. */
static void append(struct executor_pool *pool, uint32_t number)
{
    struct pool_executor *executor = &pool->executors[number];
    if (executor->free == 0 || executor->leaves)
        return;
    struct pool_list *list = list_of(pool, executor);
    executor->previous = list->last;
    executor->next = POOL_NOBODY;
    if (list->last == POOL_NOBODY)
        list->first = number;
    else
        pool->executors[list->last].next = number;
    list->last = number;
    if (executor->free < pool->cores && executor->free > pool->highest)
        pool->highest = executor->free;
}

static void unlink_executor(struct executor_pool *pool, uint32_t number)
{
    const struct pool_executor *executor = &pool->executors[number];
    if (executor->free == 0 || executor->leaves)
        return;
    struct pool_list *list = list_of(pool, executor);
    if (executor->previous == POOL_NOBODY)
        list->first = executor->next;
    else
        pool->executors[executor->previous].next = executor->next;
    if (executor->next == POOL_NOBODY)
        list->last = executor->previous;
    else
        pool->executors[executor->next].previous = executor->previous;
}

/* --- the pool --- */

bool pool_init(struct executor_pool *pool, struct arena *arena, uint32_t capacity, int64_t cores)
{
    const struct pool_list empty = {POOL_NOBODY, POOL_NOBODY};
    *pool = (struct executor_pool){.capacity = capacity,
                                   .unused = POOL_NOBODY,
                                   .cores = cores,
                                   .idle = empty,
                                   .holding = empty};
    pool->executors = arena_array(arena, capacity, sizeof *pool->executors);
    pool->partly = arena_array(arena, (size_t)cores, sizeof *pool->partly);
    if (pool->executors == NULL || pool->partly == NULL)
        return false;
    for (int64_t i = 0; i < cores; i++)
        pool->partly[i] = empty;
    return true;
}

bool pool_has_room(const struct executor_pool *pool)
{
    return pool->unused != POOL_NOBODY || pool->numbered < pool->capacity;
}

uint32_t pool_add(struct executor_pool *pool, size_t lease, double now_s)
{
    uint32_t number = pool->unused;
    if (number == POOL_NOBODY)
        number = pool->numbered++;
    else
        pool->unused = pool->executors[number].next;
    pool->executors[number] =
        (struct pool_executor){.lease = lease, .idle_since_s = now_s, .free = pool->cores};
    append(pool, number);
    pool->n++;
    return number;
}

static void reuse(struct executor_pool *pool, uint32_t executor)
{
    pool->executors[executor].next = pool->unused;
    pool->unused = executor;
}

void pool_remove(struct executor_pool *pool, uint32_t executor)
{
    unlink_executor(pool, executor);
    reuse(pool, executor);
    pool->n--;
}

void pool_leave(struct executor_pool *pool, uint32_t executor)
{
    unlink_executor(pool, executor);
    pool->executors[executor].leaves = true;
    pool->n--;
}

uint32_t pool_find_busy(const struct executor_pool *pool)
{
    uint32_t number = 0;
    while (pool->executors[number].free > 0 || pool->executors[number].leaves)
        number++;
    return number;
}

uint32_t pool_choose(struct executor_pool *pool)
{
    uint32_t idle = pool->idle.first, holding = pool->holding.first;
    if (idle != POOL_NOBODY && holding != POOL_NOBODY)
        return pool->executors[idle].idle_since_s <= pool->executors[holding].idle_since_s
                   ? idle
                   : holding;
    if (idle != POOL_NOBODY || holding != POOL_NOBODY)
        return idle != POOL_NOBODY ? idle : holding;
    while (pool->highest > 0 && pool->partly[pool->highest].first == POOL_NOBODY)
        pool->highest--;
    return pool->highest == 0 ? POOL_NOBODY : pool->partly[pool->highest].first;
}

void pool_start_task(struct executor_pool *pool, uint32_t executor, int64_t cores)
{
    unlink_executor(pool, executor);
    pool->executors[executor].free -= cores;
    append(pool, executor);
}

void pool_end_task(struct executor_pool *pool, uint32_t executor, int64_t cores, double now_s)
{
    unlink_executor(pool, executor);
    pool->executors[executor].free += cores;
    pool->executors[executor].idle_since_s = now_s;
    if (pool->executors[executor].leaves && pool->executors[executor].free == pool->cores)
        reuse(pool, executor);
    append(pool, executor);
}

void pool_hold_shuffle(struct executor_pool *pool, uint32_t executor)
{
    pool->executors[executor].holds_shuffle = true;
}
