#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/code.h"
#include "base/ledger.h"
#include "base/strview.h"

/*
 * Memory that lives as long as something you can name (a request, a call) and is given back at
 * once. Blocks double in size. Not safe for use from two threads at a time.
 */
struct arena_block;

struct arena {
    struct arena_block *head; /* the block in use */
    size_t used;              /* bytes handed out of head */
    size_t total;             /* bytes in all blocks */
    size_t limit;             /* total may not exceed it; 0: no limit */
    bool limited;             /* an allocation failed because of the limit */
    struct ledger_account
        *account; /* blocks are taken from it; borrowed; NULL: they are not counted */
};

struct arena_mark {
    struct arena_block *head;
    size_t used;
};

/* limit_bytes bounds what the arena may hold; 0 means unbounded. Allocates nothing yet. */
void arena_init(struct arena *arena, size_t limit_bytes);
/* For what is worked with beside `first`, by the same thread: blocks are counted to its account. */
void arena_init_beside(struct arena *arena, const struct arena *first, size_t limit_bytes);
void arena_fini(struct arena *arena);

/* n bytes, aligned for any type, not cleared; NULL when memory or the limit is exhausted. */
void *arena_alloc(struct arena *arena, size_t n);

/* count * size bytes, cleared; NULL also when the product overflows. count 0 gives a valid pointer.
 */
void *arena_calloc(struct arena *arena, size_t count, size_t size);

/* count * size bytes, not cleared. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Copies, NUL-terminated. NULL when memory is exhausted. */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t n);
struct strview arena_copy(struct arena *arena, struct strview text);

char *arena_printf(struct arena *arena, const char *format, ...) PV_PRINTF(2, 3);

/* Everything allocated after the mark is given back by the rewind. */
struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

/* Give everything back but the first block, which is used again: for work that is repeated. */
void arena_clear(struct arena *arena);

#endif
