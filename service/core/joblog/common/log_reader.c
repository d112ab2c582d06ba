#include "core/joblog/common/log_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"

enum { LOG_CUT_WORDS = 96 };

/* The end of year 9999: what an instant of a run can hold. */
static const int64_t LATEST_MS = INT64_C(253402300799999);

static const struct log_notice common_notices[LOG_NOTICE_OWN] = {
    [NOTICE_DAMAGED_LINE] = {"damaged_lines", "lines that are not an event were passed over"},
    [NOTICE_LINE_TOO_LONG] = {"line_too_long", "lines over the allowed length were passed over"},
    [NOTICE_TRUNCATED] = {"truncated", NULL},       /* as the log was cut: describe_cut */
    [NOTICE_NO_END] = {"no_application_end", NULL}, /* in the words of the kind */
    [NOTICE_BACKWARDS] = {"time_went_backwards", "ends before starts were taken as no time at all"},
    [NOTICE_BAD_TIME] = {"time_unusable", "instants are missing or lie outside years 1970 to 9999"},
};

struct log_reader *log_reader_create(const struct log_kind *kind,
                                     const struct joblog_limits *limits)
{
    struct log_reader *reader = calloc(1, kind->size);
    if (reader == NULL)
        return NULL;
    reader->kind = kind;
    reader->limits = *limits;
    reader->budget.limit = limits->memory_bytes;
    reader->budget.account = limits->account;
    reader->lines.longest = limits->line_bytes;
    reader->first_ms = NO_TIME;
    reader->last_ms = NO_TIME;
    kind->init(reader);
    return reader;
}

void log_reader_destroy(struct log_reader *reader)
{
    if (reader == NULL)
        return;
    reader->kind->fini(reader);
    lines_fini(&reader->lines, &reader->budget);
    free(reader);
}

static void note_too_long(void *context)
{
    struct log_reader *reader = context;
    reader->notices[NOTICE_LINE_TOO_LONG]++;
}

static struct lines_sink sink_of(struct log_reader *reader)
{
    return (struct lines_sink){reader->kind->line, note_too_long, reader};
}

enum pv_code
log_reader_feed(struct log_reader *reader, const char *bytes, size_t n, struct pv_error *err)
{
    if (reader->failed != PV_OK)
        return pv_fail(err, reader->failed, "the reader has failed before");
    if (n == 0)
        return PV_OK;
    reader->bytes += n;
    struct lines_sink sink = sink_of(reader);
    reader->failed = lines_feed(&reader->lines, &reader->budget, bytes, n, &sink, err);
    return reader->failed;
}

void log_reader_note_truncated(struct log_reader *reader, const char *coding)
{
    reader->notices[NOTICE_TRUNCATED]++;
    reader->cut_coding = coding;
    if (reader->failed != PV_OK)
        return;
    /* The line the cut went through ends here, so that it does not spoil the first line of the next
     * part. If it is not whole, that is what `truncated` says already. */
    int64_t damaged = reader->notices[NOTICE_DAMAGED_LINE];
    struct lines_sink sink = sink_of(reader);
    reader->failed = lines_finish(&reader->lines, &sink, NULL);
    reader->notices[NOTICE_DAMAGED_LINE] = damaged;
}

/* The last line of the log. Without a line end, a line that is not a whole object was cut. */
static enum pv_code take_last_line(struct log_reader *reader, struct pv_error *err)
{
    int64_t damaged = reader->notices[NOTICE_DAMAGED_LINE];
    struct strview last = lines_trim((struct strview){reader->lines.carry, reader->lines.n_carry});
    bool is_object = last.n > 0 && last.at[0] == '{';
    struct lines_sink sink = sink_of(reader);
    PV_TRY(lines_finish(&reader->lines, &sink, err));
    if (is_object && reader->notices[NOTICE_DAMAGED_LINE] > damaged) {
        reader->notices[NOTICE_DAMAGED_LINE] = damaged;
        reader->notices[NOTICE_TRUNCATED]++;
    }
    return PV_OK;
}

enum pv_code log_reader_finish(struct log_reader *reader,
                               struct arena *arena,
                               struct run *run,
                               struct pv_error *err)
{
    if (reader->failed != PV_OK)
        return pv_fail(err, reader->failed, "the reader has failed before");
    reader->failed = take_last_line(reader, err);
    if (reader->failed != PV_OK)
        return reader->failed;
    reader->failed = PV_E_INTERNAL; /* building sorts: nothing more can be taken */
    return reader->kind->build(reader, arena, run, err);
}

struct joblog_counts log_reader_counts(const struct log_reader *reader)
{
    return (struct joblog_counts){reader->bytes, reader->lines.count,
                                  (uint64_t)reader->notices[NOTICE_DAMAGED_LINE]};
}

int64_t log_reader_see_time(struct log_reader *reader, int64_t ms)
{
    if (ms < reader->kind->earliest_ms || ms > LATEST_MS) {
        reader->notices[NOTICE_BAD_TIME]++;
        return NO_TIME;
    }
    if (ms > reader->last_ms)
        reader->last_ms = ms;
    if (ms < reader->first_ms || reader->first_ms == NO_TIME)
        reader->first_ms = ms;
    return ms;
}

int64_t log_reader_elapsed(struct log_reader *reader, int64_t earlier_ms, int64_t later_ms)
{
    if (earlier_ms == NO_TIME || later_ms == NO_TIME)
        return 0;
    if (later_ms >= earlier_ms)
        return later_ms - earlier_ms;
    reader->notices[NOTICE_BACKWARDS]++;
    return 0;
}

/* "the zstd stream ends in the middle of a frame" */
static void describe_cut(const struct log_reader *reader, char out[LOG_CUT_WORDS])
{
    uint64_t lines = reader->lines.count;
    if (reader->cut_coding != NULL)
        (void)snprintf(out, LOG_CUT_WORDS, "the %s stream ends in the middle of a frame",
                       reader->cut_coding);
    else if (reader->notices[NOTICE_TRUNCATED] > 0)
        (void)snprintf(out, LOG_CUT_WORDS, "the last line ends in the middle of an event");
    else
        (void)snprintf(out, LOG_CUT_WORDS, "the log ends after %" PRIu64 " line%s", lines,
                       PLURAL(lines));
}

enum pv_code log_reader_refuse_cut(const struct log_reader *reader, struct pv_error *err)
{
    char cut[LOG_CUT_WORDS];
    describe_cut(reader, cut);
    return pv_fault(err, PV_PLACE_POINTER, "", "truncated",
                    "%s, before the start of the application: the file is cut at its end. Send the "
                    "whole log",
                    cut);
}

static void warn_of(const struct log_reader *reader, size_t i, struct findings *warnings)
{
    const struct log_kind *kind = reader->kind;
    char cut[LOG_CUT_WORDS];
    struct log_notice notice =
        i < LOG_NOTICE_OWN ? common_notices[i] : kind->notices[i - LOG_NOTICE_OWN];
    describe_cut(reader, cut);
    struct finding *warning =
        i == NOTICE_TRUNCATED
            ? finding_add(warnings, notice.code, "%s: the file is cut at its end", cut)
            : finding_add(warnings, notice.code, "%s",
                          i == NOTICE_NO_END ? kind->end_missing : notice.message);
    finding_number(warning, "count", (double)reader->notices[i]);
}

bool log_reader_warn(const struct log_reader *reader, struct arena *arena, struct run *run)
{
    run->warnings.arena = arena;
    for (size_t i = 0; i < LOG_NOTICE_OWN + reader->kind->n_notices; i++)
        if (reader->notices[i] > 0)
            warn_of(reader, i, &run->warnings);
    return !run->warnings.failed;
}

bool log_text_copy(struct arena *arena, const char *text, struct strview *to)
{
    *to = (struct strview){NULL, 0};
    if (text[0] == '\0')
        return true;
    *to = arena_copy(arena, strview_of(text));
    return to->at != NULL;
}
