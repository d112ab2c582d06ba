#include "core/history/log_origin.h"

#include <string.h>

#include "core/history/log_damage.h"

enum { ORIGIN_DAMAGED = 1, ORIGIN_NO_START = 2, ORIGIN_COMPACTED = 4, ORIGIN_BAD_START = 8 };

struct origin {
    unsigned flags;
    int64_t started_us;
    uint64_t cluster;
    bool has_beginning;
    const char *events;
    size_t n;
};

bool log_beginning_fits(size_t n)
{
    return n >= LOG_CLUSTER_BYTES && n <= LOG_BEGINNING_BYTES_MAX &&
           (n - LOG_CLUSTER_BYTES) % LOG_EVENT_BYTES == 0;
}

static unsigned flags_of(const struct run *run)
{
    unsigned flags = log_damage(run) > 0 ? ORIGIN_DAMAGED : 0;
    if (finding_find(&run->warnings, "no_application_start") != NULL)
        flags |= ORIGIN_NO_START;
    if (finding_find(&run->warnings, "compacted_log") != NULL)
        flags |= ORIGIN_COMPACTED;
    if (finding_find(&run->warnings, "application_start_unusable") != NULL)
        flags |= ORIGIN_BAD_START;
    return flags;
}

size_t log_origin_write(const struct run *run, unsigned char origin[LOG_ORIGIN_BYTES_MAX])
{
    size_t n = log_beginning_fits(run->log_beginning.n) ? run->log_beginning.n : 0;
    origin[0] = (unsigned char)flags_of(run);
    log_number_write(origin + 1, (uint64_t)run->started_us, 8);
    if (n > 0)
        memcpy(origin + LOG_ORIGIN_HEAD, run->log_beginning.at, n);
    return LOG_ORIGIN_HEAD + n;
}

static uint64_t read_number(const char *from, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number = number << 8 | (unsigned char)from[i];
    return number;
}

static bool read_origin(struct strview bytes, struct origin *origin)
{
    if (bytes.at == NULL || bytes.n < LOG_ORIGIN_HEAD)
        return false;
    *origin = (struct origin){.flags = (unsigned char)bytes.at[0],
                              .started_us = (int64_t)read_number(bytes.at + 1, 8)};
    size_t n = bytes.n - LOG_ORIGIN_HEAD;
    if (!log_beginning_fits(n))
        return true;
    origin->has_beginning = true;
    origin->cluster = read_number(bytes.at + LOG_ORIGIN_HEAD, LOG_CLUSTER_BYTES);
    origin->events = bytes.at + LOG_ORIGIN_HEAD + LOG_CLUSTER_BYTES;
    origin->n = (n - LOG_CLUSTER_BYTES) / LOG_EVENT_BYTES;
    return true;
}

/* Events of the list that the other list has, too. Each is once in a list. */
static size_t count_common(const struct origin *list, const struct origin *other)
{
    size_t common = 0;
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < other->n; k++)
            common += memcmp(list->events + i * LOG_EVENT_BYTES,
                             other->events + k * LOG_EVENT_BYTES, LOG_EVENT_BYTES) == 0;
    return common;
}

static bool events_agree(const struct origin *a, const struct origin *b)
{
    unsigned flags = a->flags | b->flags;
    size_t n = a->n < b->n ? a->n : b->n;
    if (n == 0 || (flags & ORIGIN_COMPACTED) != 0)
        return true;
    if ((flags & (ORIGIN_DAMAGED | ORIGIN_NO_START)) != 0)
        return 2 * count_common(a, b) >= n;
    return memcmp(a->events, b->events, n * LOG_EVENT_BYTES) == 0;
}

bool log_origin_agrees(struct strview a, struct strview b)
{
    struct origin left, right;
    if (!read_origin(a, &left) || !read_origin(b, &right))
        return true;
    bool starts_known = ((left.flags | right.flags) & (ORIGIN_NO_START | ORIGIN_BAD_START)) == 0 &&
                        left.started_us != RUN_NO_INSTANT && right.started_us != RUN_NO_INSTANT;
    if (starts_known && left.started_us != right.started_us)
        return false;
    if (left.cluster != 0 && right.cluster != 0 && left.cluster != right.cluster)
        return false;
    return events_agree(&left, &right);
}

bool log_origin_knows(struct strview a, struct strview b)
{
    struct origin left, right;
    if (!read_origin(a, &left) || !read_origin(b, &right) || !left.has_beginning)
        return true;
    return (left.flags & ORIGIN_NO_START) <= (right.flags & ORIGIN_NO_START) &&
           (left.cluster != 0 || right.cluster == 0);
}
