#include "core/joblog/joblog.h"

#include <stdlib.h>
#include <string.h>

struct joblog {
    struct joblog_limits limits;
    char head[MAPREDUCE_MAGIC]; /* held back until they determine the kind */
    size_t n_head;
    enum pv_code failed; /* making the reader failed; sticky */
    /* One of them once the kind is known. */
    struct sparklog *spark;
    struct mapreduce *mapreduce;
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
    sparklog_destroy(log->spark);
    mapreduce_destroy(log->mapreduce);
    free(log);
}

enum joblog_kind joblog_kind(const struct joblog *log)
{
    if (log->mapreduce != NULL)
        return JOBLOG_MAPREDUCE;
    return log->spark != NULL ? JOBLOG_SPARK : JOBLOG_UNDECIDED;
}

static enum pv_code pass_on(struct joblog *log, const char *bytes, size_t n, struct pv_error *err)
{
    return log->mapreduce != NULL ? mapreduce_feed(log->mapreduce, bytes, n, err)
                                  : sparklog_feed(log->spark, bytes, n, err);
}

/* Make the reader that the head asks for and give it the head. */
static enum pv_code decide(struct joblog *log, struct pv_error *err)
{
    if (joblog_kind(log) != JOBLOG_UNDECIDED)
        return PV_OK;
    if (log->failed != PV_OK)
        return pv_fail(err, log->failed, "the reader has failed before");
    if (mapreduce_recognise(log->head, log->n_head))
        log->mapreduce = mapreduce_create(&log->limits);
    else
        log->spark = sparklog_create(&log->limits);
    if (joblog_kind(log) == JOBLOG_UNDECIDED) {
        log->failed = PV_E_MEMORY;
        return pv_no_memory(err);
    }
    return pass_on(log, log->head, log->n_head, err);
}

enum pv_code joblog_feed(struct joblog *log, const char *bytes, size_t n, struct pv_error *err)
{
    if (n == 0)
        return log->failed;
    if (joblog_kind(log) == JOBLOG_UNDECIDED) {
        size_t wanted = sizeof log->head - log->n_head;
        size_t taken = n < wanted ? n : wanted;
        memcpy(log->head + log->n_head, bytes, taken);
        log->n_head += taken;
        if (taken < wanted)
            return log->failed;
        enum pv_code code = decide(log, err);
        if (code != PV_OK)
            return code;
        bytes += taken;
        n -= taken;
    }
    return pass_on(log, bytes, n, err);
}

void joblog_note_truncated(struct joblog *log)
{
    if (decide(log, NULL) != PV_OK)
        return;
    if (log->mapreduce != NULL)
        mapreduce_note_truncated(log->mapreduce);
    else
        sparklog_note_truncated(log->spark);
}

enum pv_code
joblog_finish(struct joblog *log, struct arena *arena, struct run *run, struct pv_error *err)
{
    enum pv_code code = decide(log, err);
    if (code != PV_OK)
        return code;
    return log->mapreduce != NULL ? mapreduce_finish(log->mapreduce, arena, run, err)
                                  : sparklog_finish(log->spark, arena, run, err);
}

struct joblog_counts joblog_counts(const struct joblog *log)
{
    if (log->mapreduce != NULL)
        return mapreduce_counts(log->mapreduce);
    if (log->spark != NULL)
        return sparklog_counts(log->spark);
    return (struct joblog_counts){.bytes = log->n_head};
}
