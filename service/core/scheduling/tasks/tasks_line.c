#include "core/scheduling/tasks/tasks_line.h"

#include <assert.h>
#include <math.h>

static double pieces_of(double most)
{
    return ceil(fmin(most, (double)LINE_END) / LINE_PIECE);
}

bool line_pool_init(struct line_pool *pool, double most, struct arena *arena)
{
    *pool = (struct line_pool){.arena = arena,
                               .most = most < (double)LINE_END ? (uint32_t)most : LINE_END,
                               .unused = LINE_END};
    pool->pieces = arena_array(arena, (size_t)pieces_of(most), sizeof *pool->pieces);
    return pool->pieces != NULL;
}

double line_pool_memory(double most)
{
    return pieces_of(most) *
           (sizeof(struct line_place *) + (double)LINE_PIECE * sizeof(struct line_place));
}

static bool add_place(struct line_pool *pool)
{
    uint32_t piece = pool->n >> LINE_PIECE_SHIFT;
    if (pool->n == pool->most)
        return false;
    if (pool->n % LINE_PIECE == 0)
        pool->pieces[piece] = arena_array(pool->arena, LINE_PIECE, sizeof **pool->pieces);
    if (pool->pieces[piece] == NULL)
        return false;
    pool->n++;
    return true;
}

uint32_t line_pool_take(struct line_pool *pool, uint32_t job, uint32_t item)
{
    uint32_t place = pool->unused;
    if (place != LINE_END) {
        pool->unused = line_place_at(pool, place)->next;
    } else {
        if (!add_place(pool))
            return LINE_END;
        place = pool->n - 1;
    }
    *line_place_at(pool, place) = (struct line_place){job, item, 0, LINE_END};
    return place;
}
