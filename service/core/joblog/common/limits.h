#ifndef CORE_JOBLOG_COMMON_LIMITS_H
#define CORE_JOBLOG_COMMON_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/ledger.h"
#include "base/strview.h"

/* What every reader of job logs is given, and what it counts. */

/*
 * What becomes of free texts of the log: stage names that are no call sites (SQL, what users
 * wrote), file paths, host names. Credentials are never kept. All zero is the strictest.
 */
enum joblog_policy { JOBLOG_DROP, JOBLOG_HASH, JOBLOG_KEEP };

struct joblog_privacy {
    enum joblog_policy sql_text;
    enum joblog_policy paths;
    enum joblog_policy host_names;
    /* 16 hexadecimal digits and a NUL that stand for a text: equal for equal texts, and not to be
     * guessed without the key. NULL: what would be hashed is dropped. */
    void (*hash)(const unsigned char key[32], struct strview text, char digits[17]);
    unsigned char key[32];
};

struct joblog_limits {
    size_t line_bytes;              /* a longer line is skipped and counted (line_too_long) */
    size_t stages;                  /* stage attempts */
    size_t tasks;                   /* successful tasks whose durations are kept */
    size_t memory_bytes;            /* all a reader may hold */
    struct ledger_account *account; /* what it holds is counted there; borrowed; NULL: nowhere */
    struct joblog_privacy privacy;
};

/* What a reader has taken so far, for metrics. */
struct joblog_counts {
    uint64_t bytes;
    uint64_t lines;
    uint64_t damaged_lines;
};

#endif
