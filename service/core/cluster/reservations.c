#include "core/cluster/reservations.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"

/*
 * A sweep over the instants at which something begins or ends. Both questions are about the amounts
 * that are free between two of them.
 */

int64_t reservation_quanta(double cores)
{
    return llround(cores / RESERVATION_QUANTUM);
}

double reservation_cores(int64_t quanta)
{
    return (double)quanta /
           (1 / RESERVATION_QUANTUM); /* 0.85 for 17; a product would not give it */
}

bool reservation_is_whole(double cores)
{
    double quanta = cores / RESERVATION_QUANTUM;
    return fabs(quanta - round(quanta)) <= 1e-9 * fmax(1, quanta);
}

/* What does not fit an int64_t is as good as no bound. */
static int64_t product(int64_t a, int64_t b)
{
    int64_t c;
    return __builtin_mul_overflow(a, b, &c) ? INT64_MAX : c;
}

struct reservation_amounts reservation_capacity(const struct cluster_traits *traits)
{
    int64_t cores = product(traits->executors, traits->cores_per_executor);
    return (struct reservation_amounts){
        .quanta = product(cores, reservation_quanta(1)),
        .memory_bytes = traits->memory_bytes_per_executor == RUN_UNKNOWN
                            ? RUN_UNKNOWN
                            : product(traits->executors, traits->memory_bytes_per_executor)};
}

struct change {
    int64_t at_us;
    bool begins;
    struct reservation_amounts amounts;
};

/* What ends at an instant is free for what begins then, so it comes first. */
static int by_instant(const void *a, const void *b)
{
    const struct change *x = a;
    const struct change *y = b;
    return x->at_us != y->at_us ? compare_int64(x->at_us, y->at_us) : x->begins - y->begins;
}

static int64_t known(int64_t bytes)
{
    return bytes == RUN_UNKNOWN ? 0 : bytes;
}

/* The changes of what is held from from_us on, in order; those before are made to begin there.
 * NULL: out of memory. */
static struct change *list_changes(
    const struct reservation held[], size_t n, int64_t from_us, struct arena *scratch, size_t *m)
{
    struct change *changes = arena_array(scratch, 2 * n + 1, sizeof *changes);
    *m = 0;
    for (size_t i = 0; changes != NULL && i < n; i++) {
        const struct reservation *r = &held[i];
        if (r->end_us <= from_us || r->end_us <= r->begin_us)
            continue;
        int64_t begin_us = r->begin_us < from_us ? from_us : r->begin_us;
        changes[(*m)++] = (struct change){begin_us, true, r->amounts};
        changes[(*m)++] = (struct change){r->end_us, false, r->amounts};
    }
    if (changes != NULL)
        qsort(changes, *m, sizeof *changes, by_instant);
    return changes;
}

/* Amounts in use, taken along from one change to the next. */
static void apply(struct reservation_amounts *used, const struct change *change)
{
    int64_t sign = change->begins ? 1 : -1;
    used->quanta += sign * change->amounts.quanta;
    used->memory_bytes += sign * known(change->amounts.memory_bytes);
}

static struct reservation_amounts left(struct reservation_amounts capacity,
                                       struct reservation_amounts used)
{
    return (struct reservation_amounts){.quanta = capacity.quanta - used.quanta,
                                        .memory_bytes =
                                            capacity.memory_bytes == RUN_UNKNOWN
                                                ? RUN_UNKNOWN
                                                : capacity.memory_bytes - used.memory_bytes};
}

static void lower(int64_t *least, int64_t value)
{
    if (value < *least)
        *least = value < 0 ? 0 : value;
}

bool reservations_free(const struct reservation held[],
                       size_t n,
                       struct reservation_amounts capacity,
                       int64_t begin_us,
                       int64_t end_us,
                       struct arena *scratch,
                       struct reservation_amounts *room)
{
    struct arena_mark mark = arena_mark(scratch);
    size_t m;
    const struct change *changes = list_changes(held, n, begin_us, scratch, &m);
    struct reservation_amounts used = {0, 0};
    *room = capacity;
    for (size_t i = 0; changes != NULL && i < m && changes[i].at_us < end_us; i++) {
        apply(&used, &changes[i]);
        struct reservation_amounts now = left(capacity, used);
        lower(&room->quanta, now.quanta);
        if (room->memory_bytes != RUN_UNKNOWN)
            lower(&room->memory_bytes, now.memory_bytes);
    }
    arena_rewind(scratch, mark);
    return changes != NULL;
}

static bool fits(struct reservation_amounts asked, struct reservation_amounts room)
{
    return asked.quanta <= room.quanta &&
           (asked.memory_bytes == RUN_UNKNOWN || room.memory_bytes == RUN_UNKNOWN ||
            asked.memory_bytes <= room.memory_bytes);
}

bool reservations_earliest(const struct reservation held[],
                           size_t n,
                           struct reservation_amounts capacity,
                           struct reservation_amounts asked,
                           int64_t from_us,
                           int64_t length_us,
                           struct arena *scratch,
                           int64_t *begin_us)
{
    struct arena_mark mark = arena_mark(scratch);
    size_t m;
    const struct change *changes = list_changes(held, n, from_us, scratch, &m);
    struct reservation_amounts used = {0, 0};
    int64_t since_us = from_us;     /* with the amounts in use as they are */
    int64_t candidate_us = from_us; /* what is asked is free from there to since_us */
    for (size_t i = 0; changes != NULL && i < m; i++) {
        if (changes[i].at_us > since_us) {
            since_us = changes[i].at_us;
            if (!fits(asked, left(capacity, used)))
                candidate_us = since_us;
            else if (since_us - candidate_us >= length_us)
                break;
        }
        apply(&used, &changes[i]);
    }
    *begin_us = fits(asked, capacity) ? candidate_us : RUN_NO_INSTANT;
    arena_rewind(scratch, mark);
    return changes != NULL;
}
