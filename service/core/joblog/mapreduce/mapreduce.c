#include "core/joblog/mapreduce/mapreduce.h"

#include <string.h>

#include "core/joblog/mapreduce/mapreduce_internal.h"

static const char text_form[] = "Avro-Json";
static const char binary_form[] = "Avro-Binary";

bool mapreduce_recognise(const char *bytes, size_t n)
{
    size_t compared = n < MAPREDUCE_MAGIC ? n : MAPREDUCE_MAGIC;
    return n >= MAPREDUCE_MAGIC_CUT &&
           (memcmp(bytes, text_form, compared) == 0 || memcmp(bytes, binary_form, compared) == 0);
}

static void init(struct log_reader *reader)
{
    struct mapreduce *log = (struct mapreduce *)reader;
    log->submit_ms = log->finish_ms = NO_TIME;
    log->planned[TASK_MAP] = log->planned[TASK_REDUCE] = RUN_UNKNOWN;
}

static void fini(struct log_reader *reader)
{
    struct mapreduce *log = (struct mapreduce *)reader;
    budget_free(&reader->budget, log->attempts, log->attempts_capacity, sizeof *log->attempts);
    idmap_fini(&log->attempt_at, &reader->budget);
    log_nodes_fini(&log->nodes, &reader->budget);
}

/* The first line says in which form the rest is. */
static enum pv_code take_form(struct mapreduce *log, struct strview line, struct pv_error *err)
{
    if (strview_is(line, binary_form))
        return pv_fail(err, PV_E_MEDIA_TYPE,
                       "the job history is in Avro's binary form, of which only the text form is"
                       " read: run jobs with -Dmapreduce.jobhistory.jhist.format=json (Hadoop 3"
                       " writes binary unless configured so)");
    log->reader.notices[NOTICE_DAMAGED_LINE] += !strview_is(line, text_form);
    return PV_OK;
}

static enum pv_code take_line(void *context, struct strview line, struct pv_error *err)
{
    struct mapreduce *log = context;
    line = lines_trim(line);
    if (log->reader.lines.count == 1)
        return take_form(log, line, err);
    if (line.n == 0)
        return PV_OK;
    struct job_event event;
    bool sound = job_event_read(line, &event);
    job_take take = sound ? job_table_find(event.type) : NULL;
    enum pv_code code = take == NULL ? PV_OK : take(log, &event, &sound, err);
    /* The second line is the schema: it is not needed, and not missed either. */
    log->reader.notices[NOTICE_DAMAGED_LINE] += !sound && log->reader.lines.count > 2;
    return code;
}

static const struct log_notice notices[] = {
#define NOTICE_TEXT(notice, code, message) {code, message},
    MAPREDUCE_NOTICES(NOTICE_TEXT)
#undef NOTICE_TEXT
};
_Static_assert(LOG_NOTICE_OWN + sizeof notices / sizeof *notices <= LOG_NOTICES_MAX,
               "room for every notice");

const struct log_kind mapreduce_kind = {
    .size = sizeof(struct mapreduce),
    .earliest_ms = 1, /* Hadoop writes 0 and -1 for an instant that never was */
    .end_missing = "the history ends before the job does",
    .notices = notices,
    .n_notices = sizeof notices / sizeof *notices,
    .init = init,
    .fini = fini,
    .line = take_line,
    .build = job_run_build};
