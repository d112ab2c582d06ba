#ifndef CORE_WORKLOAD_WORKLOAD_CHUNK_H
#define CORE_WORKLOAD_WORKLOAD_CHUNK_H

#include "base/error.h"
#include "core/workload/workload.h"

/*
 * One chunk of a workload's compact form (docs/workloads.md, "Compact form"), readable without the
 * others. A job with more runs than a chunk takes goes on in the next.
 */
enum { WORKLOAD_CHUNK_MAX = 256 * 1024 }; /* bytes */

/* What a chunk says of itself. */
struct workload_chunk_header {
    uint32_t jobs;  /* that begin in it */
    bool continues; /* its first entry goes on with the last job before it */
    bool rounded;   /* its durations are rounded, by 2^-24 at most */
    uint64_t tasks[WORKLOAD_LISTS];
    uint64_t runs[WORKLOAD_LISTS];
};

struct workload_chunk;

enum { WORKLOAD_COLUMNS_MAX = 16 };

struct workload_cursor {
    const unsigned char *at;
    const unsigned char *end;
};

/* Where a reader stands in a chunk. The members are workload_chunk.c's. */
struct workload_chunk_reader {
    struct workload_chunk_header header;
    uint32_t entries; /* left */
    bool first;       /* the next entry is the first */
    unsigned encoding[2];
    unsigned scale[2];
    unsigned flags;
    int64_t arrival;
    uint64_t tasks[WORKLOAD_LISTS]; /* left */
    uint64_t runs[WORKLOAD_LISTS];  /* left */
    char name[WORKLOAD_NAME_MAX + 1];
    size_t name_bytes;
    struct workload_cursor columns[WORKLOAD_COLUMNS_MAX];
};

/* One entry of a chunk: a job, or where `continues` is set more runs of the one before. */
struct workload_entry {
    bool continues;
    struct workload_job job; /* runs are NULL, n_runs how many there are; the name is borrowed from
                                the reader until the next entry */
};

/* Begin to read. bytes are borrowed while the reader is used. PV_E_INVALID: it is no chunk, of
 * another version, or damaged ("chunk checksum does not match"). O(bytes). */
enum pv_code workload_chunk_open(struct strview bytes,
                                 struct workload_chunk_reader *reader,
                                 struct pv_error *err) PV_MUSTCHECK;

/* The next entry; *more is false, and the entry unset, behind the last. Its runs are to be read
 * before the next call, those of WORKLOAD_TASKS first. PV_E_INVALID: damaged. */
enum pv_code workload_chunk_next(struct workload_chunk_reader *reader,
                                 struct workload_entry *entry,
                                 bool *more,
                                 struct pv_error *err) PV_MUSTCHECK;

/* The next n runs of a list of the entry read last. PV_E_INVALID: damaged. O(n). */
enum pv_code workload_chunk_runs(struct workload_chunk_reader *reader,
                                 enum workload_list list,
                                 struct workload_run runs[],
                                 size_t n,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
