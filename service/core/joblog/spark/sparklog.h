#ifndef CORE_JOBLOG_SPARK_SPARKLOG_H
#define CORE_JOBLOG_SPARK_SPARKLOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"

/*
 * Reader of Spark event logs: decompressed bytes in, in pieces of any size, a run profile out.
 * Memory grows with stages, executors and task durations, never with the length of the log.
 * One reader belongs to one thread at a time.
 */
struct sparklog;

/*
 * What becomes of free texts of the log: stage names that are no call sites (SQL, what users
 * wrote), file paths, host names. Credentials are never kept. All zero is the strictest.
 */
enum sparklog_policy { SPARKLOG_DROP, SPARKLOG_HASH, SPARKLOG_KEEP };

struct sparklog_privacy {
    enum sparklog_policy sql_text;
    enum sparklog_policy paths;
    enum sparklog_policy host_names;
    /* 16 hexadecimal digits and a NUL that stand for a text: equal for equal texts, and not to be
     * guessed without the key. NULL: what would be hashed is dropped. */
    void (*hash)(const unsigned char key[32], struct strview text, char digits[17]);
    unsigned char key[32];
};

struct sparklog_limits {
    size_t line_bytes;   /* a longer line is skipped and counted (line_too_long) */
    size_t stages;       /* stage attempts */
    size_t tasks;        /* successful tasks whose durations are kept */
    size_t memory_bytes; /* all a reader may hold */
    struct sparklog_privacy privacy;
};

/* NULL when memory is exhausted. */
struct sparklog *sparklog_create(const struct sparklog_limits *limits);
void sparklog_destroy(struct sparklog *log);

/*
 * Take the next n bytes. Damaged or unknown lines are counted, never an error.
 * PV_E_LIMIT: more stages, tasks or memory than allowed (the reader takes nothing more);
 * PV_E_MEMORY.
 */
enum pv_code
sparklog_feed(struct sparklog *log, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;

/* The compressed stream under the log was cut here: becomes the warning `truncated`. A line that
 * the cut went through is not counted as damaged; what is fed next (another part) begins a new
 * line. */
void sparklog_note_truncated(struct sparklog *log);

/*
 * No more bytes: build the run by the definitions of design.md section 3 ("From an event log ...").
 * Everything `run` points at lives in `arena`. run->advice_id is the property
 * spark.provisor.adviceId when the log holds a well-formed one.
 *
 * PV_E_INVALID with fault code "no_application_start" when the log holds none; PV_E_MEMORY.
 */
enum pv_code sparklog_finish(struct sparklog *log,
                             struct arena *arena,
                             struct run *run,
                             struct pv_error *err) PV_MUSTCHECK;

/* Counters for metrics; valid at any time. */
struct sparklog_counts {
    uint64_t bytes;
    uint64_t lines;
    uint64_t damaged_lines;
};
struct sparklog_counts sparklog_counts(const struct sparklog *log);

#endif
