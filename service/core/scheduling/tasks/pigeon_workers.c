#include "core/scheduling/tasks/pigeon_workers.h"

bool pigeon_workers_init(struct pigeon_workers *workers,
                         uint32_t n,
                         uint32_t groups,
                         uint32_t levels,
                         struct arena *arena)
{
    size_t lists = (size_t)groups * levels;
    *workers = (struct pigeon_workers){.levels = levels};
    workers->items = arena_array(arena, n, sizeof *workers->items);
    workers->idle = arena_array(arena, lists, sizeof *workers->idle);
    if (workers->items == NULL || workers->idle == NULL)
        return false;
    for (size_t i = 0; i < lists; i++)
        workers->idle[i] = (struct pigeon_idle){PIGEON_NOBODY, PIGEON_NOBODY};
    return true;
}

double pigeon_workers_memory(uint32_t n, uint32_t groups, uint32_t levels)
{
    return (double)n * sizeof(struct pigeon_worker) +
           (double)groups * levels * sizeof(struct pigeon_idle);
}

static struct pigeon_idle *list_of(const struct pigeon_workers *workers,
                                   const struct pigeon_worker *worker)
{
    return &workers->idle[(size_t)worker->group * workers->levels + worker->level];
}

void pigeon_workers_rest(struct pigeon_workers *workers, uint32_t worker)
{
    struct pigeon_worker *item = &workers->items[worker];
    struct pigeon_idle *list = list_of(workers, item);
    item->idle = true;
    item->before = list->last;
    item->after = PIGEON_NOBODY;
    if (list->last == PIGEON_NOBODY)
        list->first = worker;
    else
        workers->items[list->last].after = worker;
    list->last = worker;
}

void pigeon_workers_take(struct pigeon_workers *workers, uint32_t worker)
{
    struct pigeon_worker *item = &workers->items[worker];
    struct pigeon_idle *list = list_of(workers, item);
    item->idle = false;
    if (item->before == PIGEON_NOBODY)
        list->first = item->after;
    else
        workers->items[item->before].after = item->after;
    if (item->after == PIGEON_NOBODY)
        list->last = item->before;
    else
        workers->items[item->after].before = item->before;
}

void pigeon_workers_add(struct pigeon_workers *workers, uint32_t group, const uint32_t counts[])
{
    for (uint32_t level = workers->levels; level-- > 0;)
        for (uint32_t i = 0; i < counts[level]; i++) {
            workers->items[workers->n] = (struct pigeon_worker){.group = group, .level = level};
            pigeon_workers_rest(workers, workers->n++);
        }
}

void pigeon_workers_relist(struct pigeon_workers *workers, uint32_t first, uint32_t n)
{
    for (uint32_t w = first; w < first + n; w++)
        if (workers->items[w].idle) {
            pigeon_workers_take(workers, w);
            pigeon_workers_rest(workers, w);
        }
}
