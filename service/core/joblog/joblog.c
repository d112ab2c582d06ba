#include "core/joblog/joblog.h"

#include <stdlib.h>
#include <string.h>

struct joblog {
    struct joblog_limits limits;
    char head[MAPREDUCE_MAGIC]; /* held back until they determine the kind */
    size_t n_head;
    enum pv_code failed;       /* making the reader failed; sticky */
    struct log_reader *reader; /* NULL until the kind is known */
};

struct joblog *joblog_create(const struct joblog_limits *limits)
{
    struct joblog *log = calloc(1, sizeof *log);
    if (log != NULL)
        log->limits = *limits;
    return log;
}

void joblog_destroy(struct joblog *log)
{
    if (log == NULL)
        return;
    log_reader_destroy(log->reader);
    free(log);
}

enum joblog_kind joblog_kind(const struct joblog *log)
{
    if (log->reader == NULL)
        return JOBLOG_UNDECIDED;
    return log->reader->kind == &mapreduce_kind ? JOBLOG_MAPREDUCE : JOBLOG_SPARK;
}

/* Make the reader that the head asks for and give it the head. */
static enum pv_code joblog_decide(struct joblog *log, struct pv_error *err)
{
    if (log->reader != NULL)
        return PV_OK;
    if (log->failed != PV_OK)
        return pv_fail(err, log->failed, "the reader has failed before");
    bool mapreduce = mapreduce_recognise(log->head, log->n_head);
    log->reader = log_reader_create(mapreduce ? &mapreduce_kind : &sparklog_kind, &log->limits);
    if (log->reader == NULL) {
        log->failed = PV_E_MEMORY;
        return pv_no_memory(err);
    }
    return log_reader_feed(log->reader, log->head, log->n_head, err);
}

enum pv_code joblog_feed(struct joblog *log, const char *bytes, size_t n, struct pv_error *err)
{
    if (n == 0)
        return log->failed;
    if (log->reader == NULL) {
        size_t wanted = sizeof log->head - log->n_head;
        size_t taken = n < wanted ? n : wanted;
        memcpy(log->head + log->n_head, bytes, taken);
        log->n_head += taken;
        if (taken < wanted)
            return log->failed;
        PV_TRY(joblog_decide(log, err));
        bytes += taken;
        n -= taken;
    }
    return log_reader_feed(log->reader, bytes, n, err);
}

void joblog_note_truncated(struct joblog *log, const char *coding)
{
    if (joblog_decide(log, NULL) == PV_OK)
        log_reader_note_truncated(log->reader, coding);
}

enum pv_code
joblog_finish(struct joblog *log, struct arena *arena, struct run *run, struct pv_error *err)
{
    PV_TRY(joblog_decide(log, err));
    return log_reader_finish(log->reader, arena, run, err);
}

struct joblog_counts joblog_counts(const struct joblog *log)
{
    return log->reader != NULL ? log_reader_counts(log->reader)
                               : (struct joblog_counts){.bytes = log->n_head};
}
