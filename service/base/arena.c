#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Tests of failing allocations have it as small as can be: then each allocation has a block. */
#ifndef ARENA_FIRST_BLOCK
#define ARENA_FIRST_BLOCK 4096
#define ARENA_LARGEST_STEP ((size_t)1 << 22)
#endif

struct arena_block {
    struct arena_block *next;
    size_t capacity;
    max_align_t data[];
};

void arena_init(struct arena *arena, size_t limit_bytes)
{
    *arena = (struct arena){.limit = limit_bytes};
}

void arena_init_beside(struct arena *arena, const struct arena *first, size_t limit_bytes)
{
    *arena = (struct arena){.limit = limit_bytes, .account = first->account};
}

void arena_fini(struct arena *arena)
{
    arena_rewind(arena, (struct arena_mark){NULL, 0});
}

static struct arena_block *add_block(struct arena *arena, size_t n)
{
    size_t capacity = arena->head == NULL ? ARENA_FIRST_BLOCK : arena->head->capacity * 2;
    if (capacity > ARENA_LARGEST_STEP)
        capacity = ARENA_LARGEST_STEP;
    if (capacity < n)
        capacity = n;
    size_t total;
    if (__builtin_add_overflow(arena->total, capacity, &total))
        return NULL;
    if (arena->limit != 0 && total > arena->limit) {
        arena->limited = true;
        return NULL;
    }
    size_t size;
    if (__builtin_add_overflow(capacity, sizeof(struct arena_block), &size))
        return NULL;
    if (!ledger_take(arena->account, size))
        return NULL;
    struct arena_block *block = malloc(size);
    if (block == NULL) {
        ledger_give(arena->account, size);
        return NULL;
    }
    block->next = arena->head;
    block->capacity = capacity;
    arena->head = block;
    arena->used = 0;
    arena->total = total;
    return block;
}

void *arena_alloc(struct arena *arena, size_t n)
{
    const size_t align = _Alignof(max_align_t);
    if (n > SIZE_MAX - align)
        return NULL;
    n = n == 0 ? align : (n + align - 1) / align * align;
    if (arena->head == NULL || arena->head->capacity - arena->used < n) {
        if (add_block(arena, n) == NULL)
            return NULL;
    }
    void *at = (char *)arena->head->data + arena->used;
    arena->used += n;
    return at;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t n;
    if (__builtin_mul_overflow(count, size, &n))
        return NULL;
    return arena_alloc(arena, n);
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
    void *at = arena_array(arena, count, size);
    if (at != NULL)
        memset(at, 0, count * size);
    return at;
}

char *arena_strndup(struct arena *arena, const char *text, size_t n)
{
    if (n == SIZE_MAX)
        return NULL;
    char *copy = arena_alloc(arena, n + 1);
    if (copy == NULL)
        return NULL;
    if (n > 0)
        memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

struct strview arena_copy(struct arena *arena, struct strview text)
{
    char *copy = arena_strndup(arena, text.at, text.n);
    return (struct strview){copy, copy == NULL ? 0 : text.n};
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : arena_alloc(arena, (size_t)n + 1);
    if (text != NULL)
        (void)vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){arena->head, arena->used};
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    while (arena->head != mark.head) {
        struct arena_block *block = arena->head;
        arena->head = block->next;
        arena->total -= block->capacity;
        ledger_give(arena->account, block->capacity + sizeof *block);
        free(block);
    }
    arena->used = mark.used;
}

void arena_clear(struct arena *arena)
{
    struct arena_block *first = arena->head;
    while (first != NULL && first->next != NULL)
        first = first->next;
    arena_rewind(arena, (struct arena_mark){first, 0});
}
