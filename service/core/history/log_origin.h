#ifndef CORE_HISTORY_LOG_ORIGIN_H
#define CORE_HISTORY_LOG_ORIGIN_H

#include "core/history/run.h"

/*
 * Which run a log is of. Application ids do not tell: clusters that start in one second give their
 * applications the same id. The origin of a log is its start instant, its cluster and the instants
 * of its first events. Every copy of a log has the same ones, however short the copy is: a shorter
 * copy has the first of the events.
 *
 * The origin is stored next to the log's digest. All numbers are big-endian:
 *
 *     1 byte   flags
 *     8 bytes  start, microseconds since 1970; INT64_MIN if unknown
 *     8 bytes  hash of the cluster; 0 if unknown
 *     4 bytes  hash of a first event, for each of them
 *
 * The last two are run->log_beginning: a reader makes them (core/joblog/spark/beginning.h), and an
 * export passes them on.
 */
enum {
    LOG_EVENTS_MAX = 16,
    LOG_CLUSTER_BYTES = 8,
    LOG_EVENT_BYTES = 4,
    LOG_BEGINNING_BYTES_MAX = LOG_CLUSTER_BYTES + LOG_EVENT_BYTES * LOG_EVENTS_MAX,
    LOG_ORIGIN_HEAD = 9, /* flags and start */
    LOG_ORIGIN_BYTES_MAX = LOG_ORIGIN_HEAD + LOG_BEGINNING_BYTES_MAX
};

/* A beginning of that length can exist. */
bool log_beginning_fits(size_t n);

/* Write the number in so many bytes. */
static inline void log_number_write(unsigned char *to, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (unsigned char)(number >> 8 * (bytes - 1 - i));
}

/* The origin of the log that the run was read from. Returns its length. */
size_t log_origin_write(const struct run *run, unsigned char origin[LOG_ORIGIN_BYTES_MAX]);

/*
 * Are these the origins of one run? Two that are known must agree:
 *
 *   - the starts, unless a log lost the start of its application or replaced it: a copy that was cut
 *     before the first stage does not know that the start is impossible
 *   - the clusters
 *   - the first events: the shorter list begins the longer one. If a log is damaged, half of the
 *     events of the shorter list are enough. A compacted log says nothing about them.
 *
 * An origin that is unknown (at == NULL) agrees with every other.
 */
bool log_origin_agrees(struct strview a, struct strview b);

/*
 * Does origin a know what origin b knows: the start, and the cluster? A log that lost these may be
 * of several runs. It gives way to a log of such a run, but it never takes the place of one. Origins
 * without a beginning, of older programs and exports, count as knowing.
 */
bool log_origin_knows(struct strview a, struct strview b);

#endif
