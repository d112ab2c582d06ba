#ifndef CORE_SCHEDULING_TASKS_TASKS_LINE_H
#define CORE_SCHEDULING_TASKS_TASKS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * What waits, first in first out unless the caller takes it from the middle: many lines whose places
 * come from one pool, so that a place that is given back serves any other line. 16 bytes a place;
 * the pool grows by pieces that stay where they are.
 */
#define LINE_END UINT32_MAX

enum { LINE_PIECE_SHIFT = 12, LINE_PIECE = 1 << LINE_PIECE_SHIFT };

struct line_place {
    uint32_t job;
    uint32_t item;  /* the caller's: a task or a probe of the job */
    uint32_t count; /* the caller's; 0 at first */
    uint32_t next;  /* LINE_END: this is the last */
};

struct line {
    uint32_t head; /* LINE_END: nothing waits */
    uint32_t tail;
};

#define LINE_EMPTY ((struct line){LINE_END, LINE_END})

struct line_pool {
    struct arena *arena;
    struct line_place **pieces;
    uint32_t n;      /* places that were ever used */
    uint32_t most;   /* that there may be */
    uint32_t unused; /* chain of places given back */
};

/* Room for `most` places at a time, of which none is there yet. false: out of memory. */
bool line_pool_init(struct line_pool *pool, double most, struct arena *arena);

/* Bytes for as many places at most. */
double line_pool_memory(double most);

static inline struct line_place *line_place_at(const struct line_pool *pool, uint32_t place)
{
    return &pool->pieces[place >> LINE_PIECE_SHIFT][place & (LINE_PIECE - 1)];
}

/* A place in no line. LINE_END: out of memory. */
uint32_t line_pool_take(struct line_pool *pool, uint32_t job, uint32_t item);

/* Of a place that is in no line any more. */
static inline void line_pool_give(struct line_pool *pool, uint32_t place)
{
    line_place_at(pool, place)->next = pool->unused;
    pool->unused = place;
}

/* A place goes to the end of a line. */
static inline void line_append(const struct line_pool *pool, struct line *line, uint32_t place)
{
    line_place_at(pool, place)->next = LINE_END;
    if (line->head == LINE_END)
        line->head = place;
    else
        line_place_at(pool, line->tail)->next = place;
    line->tail = place;
}

/* The place behind `before` leaves the line; that at its head when before is LINE_END. */
static inline void line_remove(const struct line_pool *pool, struct line *line, uint32_t before)
{
    uint32_t *link = before == LINE_END ? &line->head : &line_place_at(pool, before)->next;
    uint32_t place = *link;
    *link = line_place_at(pool, place)->next;
    if (line->tail == place)
        line->tail = before;
}

#endif
