#include "core/scheduling/tasks/pigeon_spread.h"

#include <assert.h>
#include <math.h>

#include "base/rounding.h"

bool pigeon_spread_init(struct pigeon_spread *spread, uint32_t groups, struct arena *arena)
{
    *spread = (struct pigeon_spread){.groups = arena_array(arena, groups, sizeof *spread->groups),
                                     .shares = arena_array(arena, groups, sizeof *spread->shares),
                                     .parts = arena_array(arena, groups, sizeof *spread->parts),
                                     .portions =
                                         arena_array(arena, groups, 2 * sizeof *spread->portions)};
    return spread->groups != NULL && spread->shares != NULL && spread->parts != NULL &&
           spread->portions != NULL && subset_init(&spread->draws, groups, arena);
}

double pigeon_spread_memory(uint32_t groups)
{
    return (double)groups *
           (3 * sizeof(uint32_t) + 2 * sizeof(double) + 2 * sizeof(struct pigeon_portion));
}

void pigeon_spread_by_power(struct pigeon_spread *spread, uint32_t n)
{
    double all = 0;
    spread->n = n;
    spread->even = true;
    for (uint32_t i = 0; i < n; i++) {
        all += spread->shares[i];
        spread->even = spread->even && spread->shares[i] == spread->shares[0];
    }
    for (uint32_t i = 0; i < n; i++)
        spread->shares[i] /= all;
    subset_resize(&spread->draws, n);
}

static void add_portion(struct pigeon_spread *spread, uint32_t *n, uint32_t i, uint32_t tasks)
{
    if (tasks > 0)
        spread->portions[(*n)++] = (struct pigeon_portion){spread->groups[i], tasks};
}

static uint32_t spread_evenly(struct pigeon_spread *spread, uint32_t tasks, struct rng *stream)
{
    uint32_t block = tasks / spread->n;
    uint32_t rest = tasks % spread->n;
    uint32_t n = 0;
    for (uint32_t i = 0; block > 0 && i < spread->n; i++)
        add_portion(spread, &n, i, block);
    const uint32_t *drawn = subset_draw(&spread->draws, stream, rest);
    for (uint32_t i = 0; i < rest; i++)
        add_portion(spread, &n, drawn[i], 1);
    return n;
}

/* Tasks that are left, by the parts cut off, which add up to their number. */
static void
spread_rest(struct pigeon_spread *spread, uint32_t rest, uint32_t *n, struct rng *stream)
{
    const uint32_t *order = subset_draw(&spread->draws, stream, spread->n);
    double next = rng_uniform(stream);
    double row = 0;
    uint32_t given = 0;
    for (uint32_t i = 0; i < spread->n; i++) {
        uint32_t more = 0;
        /* However sums are rounded, all are given. */
        row = i + 1 < spread->n ? row + spread->parts[order[i]] : rest;
        while (given < rest && next + given < row) {
            given++;
            more++;
        }
        add_portion(spread, n, order[i], more);
    }
}

uint32_t pigeon_spread_tasks(struct pigeon_spread *spread, uint32_t tasks, struct rng *stream)
{
    uint32_t n = 0;
    uint32_t rest = tasks;
    assert(spread->n > 0);
    if (spread->even)
        return spread_evenly(spread, tasks, stream);
    for (uint32_t i = 0; i < spread->n; i++) {
        double exact = tasks * spread->shares[i];
        double block = rounding_floor(exact);
        spread->parts[i] = fmax(exact - block, 0);
        add_portion(spread, &n, i, (uint32_t)block);
        rest -= (uint32_t)block;
    }
    if (rest > 0)
        spread_rest(spread, rest, &n, stream);
    return n;
}
