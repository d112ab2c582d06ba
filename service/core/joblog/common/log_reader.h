#ifndef CORE_JOBLOG_COMMON_LOG_READER_H
#define CORE_JOBLOG_COMMON_LOG_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"
#include "core/joblog/common/budget.h"
#include "core/joblog/common/limits.h"
#include "core/joblog/common/lines.h"

/*
 * Decompressed bytes of a log in, in pieces of any size, a run profile out. What differs between
 * kinds of logs is a row of functions. Memory grows with stages, executors and tasks, never with
 * the length of the log. One reader belongs to one thread at a time.
 */
struct log_reader;

/* A warning of the run: something that did not stop the reader. */
struct log_notice {
    const char *code;
    const char *message;
};

/* Those of every kind come first; a kind numbers its own from LOG_NOTICE_OWN. */
enum {
    NOTICE_DAMAGED_LINE,
    NOTICE_LINE_TOO_LONG,
    NOTICE_TRUNCATED,
    NOTICE_NO_END,
    NOTICE_BACKWARDS,
    NOTICE_BAD_TIME,
    LOG_NOTICE_OWN,
    LOG_NOTICES_MAX = 48
};

/* A kind of log. Its state is a struct whose first member is a struct log_reader. */
struct log_kind {
    size_t size;             /* of that struct */
    int64_t earliest_ms;     /* an instant before this one is not usable */
    const char *end_missing; /* message of NOTICE_NO_END */
    const struct log_notice *notices;
    size_t n_notices;
    void (*init)(struct log_reader *reader); /* all other members are 0 */
    void (*fini)(struct log_reader *reader);
    /* A line, which may be empty, with the blanks around it; reader is a struct log_reader. */
    enum pv_code (*line)(void *reader, struct strview line, struct pv_error *err);
    /* The run of what was gathered; nothing more can be read then. log_reader_warn comes last. */
    enum pv_code (*build)(struct log_reader *reader,
                          struct arena *arena,
                          struct run *run,
                          struct pv_error *err);
};

struct log_reader {
    const struct log_kind *kind;
    struct joblog_limits limits;
    struct budget budget;
    struct lines lines;
    enum pv_code failed; /* sticky */
    uint64_t bytes;
    int64_t first_ms; /* the earliest instant of any event; NO_TIME */
    int64_t last_ms;  /* the latest */
    int64_t notices[LOG_NOTICES_MAX];
    const char *cut_coding; /* compression of the stream that was cut; NULL: none was */
};

/* NULL when memory is exhausted. */
struct log_reader *log_reader_create(const struct log_kind *kind,
                                     const struct joblog_limits *limits);
void log_reader_destroy(struct log_reader *reader);

/*
 * Take the next n bytes. Damaged or unknown lines are counted, never an error.
 * PV_E_LIMIT: more stages, tasks or memory than allowed (the reader takes nothing more);
 * PV_E_MEDIA_TYPE: a form of the log that is not read; PV_E_MEMORY.
 */
enum pv_code log_reader_feed(struct log_reader *reader,
                             const char *bytes,
                             size_t n,
                             struct pv_error *err) PV_MUSTCHECK;

/* The compressed stream under the log was cut here: becomes the warning `truncated`. coding: name of
 * the compression, borrowed as long as the reader lives. A line that the cut went through is not
 * counted as damaged; the next part begins a new line. */
void log_reader_note_truncated(struct log_reader *reader, const char *coding);

/*
 * No more bytes: build the run by the definitions of docs/design.md, "From an event log".
 * Everything `run` points at lives in `arena`; it is written only on PV_OK.
 * A last line without a line end that is not a whole event counts as `truncated`.
 * PV_E_INVALID with fault code "truncated" when the log is cut before the start of its application;
 * with "no_application_start" when the log holds none and its properties do not name it, and with
 * "not_a_log" as the second one if nothing is an event; PV_E_MEMORY.
 */
enum pv_code log_reader_finish(struct log_reader *reader,
                               struct arena *arena,
                               struct run *run,
                               struct pv_error *err) PV_MUSTCHECK;

/* Counters for metrics; valid at any time. */
struct joblog_counts log_reader_counts(const struct log_reader *reader);

/* --- for the kinds --- */

/* An instant that a log does not hold. */
#define NO_TIME INT64_MIN

/* Check and note an instant of an event; NO_TIME when it is absent or unusable (counted). */
int64_t log_reader_see_time(struct log_reader *reader, int64_t ms);

/* later - earlier; 0 when one is NO_TIME; 0, and counted, when time went backwards. */
int64_t log_reader_elapsed(struct log_reader *reader, int64_t earlier_ms, int64_t later_ms);

/* Refuses a log that ends before the start of its application: the fault "truncated" says how. */
enum pv_code log_reader_refuse_cut(const struct log_reader *reader, struct pv_error *err);

/* The notices that were counted become warnings of the run. False: no memory. */
bool log_reader_warn(const struct log_reader *reader, struct arena *arena, struct run *run);

/* A copy of text, at == NULL for "". False: no memory. */
bool log_text_copy(struct arena *arena, const char *text, struct strview *to);

static inline double log_seconds(int64_t ms)
{
    return (double)ms / 1000.0;
}

/* a + b, held at the ends of the range. */
static inline int64_t log_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b > 0 ? INT64_MAX : INT64_MIN;
}

#endif
