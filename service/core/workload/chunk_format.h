#ifndef CORE_WORKLOAD_CHUNK_FORMAT_H
#define CORE_WORKLOAD_CHUNK_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/*
 * What writer and reader of a chunk agree on (docs/workloads.md, "Compact form"):
 *
 *     "PVW" and a byte with the version
 *     8 bytes, the checksum of all that follows
 *     5 bytes: flags, encoding and scale of arrivals, encoding and scale of durations
 *     integers of variable length: jobs, tasks and runs of either list, the lengths of the columns
 *     the columns
 *
 * All columns have one value for each job but the counts of the lists, which the entry that goes on
 * with an earlier job has as well, durations and run lengths. A column that holds nothing but the
 * default is left out: its length is 0.
 */
enum chunk_column {
    CHUNK_ARRIVALS,
    CHUNK_TASK_COUNTS,   /* 2 n: n durations; 2 n + 1: n durations, each with a run length */
    CHUNK_REDUCE_COUNTS, /* likewise; default 0 */
    CHUNK_DURATIONS,
    CHUNK_RUN_LENGTHS, /* less 1 */
    CHUNK_NAMES,       /* bytes in common with the name before, bytes that follow, those bytes */
    CHUNK_INPUT_BYTES, /* 1 more; 0: unknown */
    CHUNK_SHUFFLES,    /* doubles */
    CHUNK_PREDICTED,   /* doubles; NAN: not given */
    CHUNK_QUEUES,
    CHUNK_CLASSES
};
enum { CHUNK_COLUMNS = CHUNK_CLASSES + 1 };

enum chunk_flag { CHUNK_CONTINUES = 1, CHUNK_ROUNDED = 2 };

enum { CHUNK_VERSION = 1, CHUNK_CHECKED_FROM = 12, CHUNK_FIXED = 17 };
#define CHUNK_MAGIC "PVW"

/* It finds damage, not intent: whoever writes the database may write what it likes there. */
static inline uint64_t chunk_checksum(const unsigned char *bytes, size_t n)
{
    return hash_bytes(HASH_START, bytes + CHUNK_CHECKED_FROM, n - CHUNK_CHECKED_FROM);
}

#endif
