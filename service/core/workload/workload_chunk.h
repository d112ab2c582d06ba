#ifndef CORE_WORKLOAD_WORKLOAD_CHUNK_H
#define CORE_WORKLOAD_WORKLOAD_CHUNK_H

#include "base/error.h"
#include "core/workload/column.h"
#include "core/workload/workload.h"

/*
 * One chunk of a workload's compact form (docs/workloads.md, "Compact form"), readable without the
 * others. A job with more runs than a chunk takes goes on in the next.
 */
enum { WORKLOAD_CHUNK_MAX = 256 * 1024 }; /* bytes */

/* Where chunks go: in order, borrowed for the call. What it returns ends the writing unless it is
 * PV_OK. */
struct workload_sink {
    enum pv_code (*chunk)(void *context, struct strview bytes, struct pv_error *err);
    void *context;
};

/* What a chunk says of itself. */
struct workload_chunk_header {
    uint32_t jobs;  /* that begin in it */
    bool continues; /* its first entry goes on with the last job before it */
    bool rounded;   /* its durations are rounded, by 2^-24 at most */
    uint64_t tasks[WORKLOAD_LISTS];
    uint64_t runs[WORKLOAD_LISTS];
};

enum { WORKLOAD_COLUMNS_MAX = 16 };

/* Where a reader stands in a chunk. All but the header is for workload_chunk.c. */
struct workload_chunk_reader {
    struct workload_chunk_header header;
    uint32_t entries;     /* left */
    bool first;           /* the next entry is the first */
    unsigned encoding[2]; /* of arrivals, of durations */
    unsigned scale[2];
    int64_t arrival;                /* the last one, in units of its scale */
    uint64_t tasks[WORKLOAD_LISTS]; /* left in the chunk */
    uint64_t runs[WORKLOAD_LISTS];
    size_t entry_runs[WORKLOAD_LISTS]; /* left in the entry */
    bool packed[WORKLOAD_LISTS];       /* they have lengths */
    char name[WORKLOAD_NAME_MAX];
    size_t name_bytes;
    struct column_cursor columns[WORKLOAD_COLUMNS_MAX];
    bool there[WORKLOAD_COLUMNS_MAX];
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
