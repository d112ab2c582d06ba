#include "logfiles/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "base/plural.h"
#include "base/quantity_text.h"
#include "threads/clock.h"

enum { BAR_EVERY_MS = 200, LINE_EVERY_MS = 10000, BAR_WIDTH = 24, NS_PER_MS = 1000000 };

void report_init(
    struct report *report, const char *program, enum report_form form, bool quiet, bool dry_run)
{
    *report = (struct report){.form = form,
                              .quiet = quiet,
                              .dry_run = dry_run,
                              .program = program,
                              .out = stdout,
                              .err = stderr,
                              .bar = isatty(fileno(stderr)) == 1,
                              .same_screen = isatty(fileno(stdout)) == 1,
                              .begun_ns = clock_monotonic_ns()};
    report->reported_ns = report->begun_ns;
    (void)pthread_mutex_init(&report->lock, NULL);
}

void report_add(struct report *report, size_t items, uint64_t bytes)
{
    pthread_mutex_lock(&report->lock);
    report->items += items;
    report->bytes += bytes;
    pthread_mutex_unlock(&report->lock);
}

/* --- forms --- */

void report_format_seconds(double seconds, char out[REPORT_NUMBER])
{
    double whole = seconds < 0 ? 0 : seconds > 3.6e9 ? 3.6e9 : seconds;
    uint64_t s = (uint64_t)(whole + 0.5);
    if (s >= 3600)
        (void)snprintf(out, REPORT_NUMBER, "%" PRIu64 ":%02u:%02u", s / 3600,
                       (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    else
        (void)snprintf(out, REPORT_NUMBER, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
}

/* Length of the character if a terminal takes it for a command, an end of the line or a change of
 * direction (U+0080 to 9F, U+2028 to 202E, U+2066 to 2069), else 0. */
static size_t unsafe_bytes(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
        return 2;
    if (c[0] != 0xe2)
        return 0;
    bool separator = c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae;
    bool isolate = c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9;
    return separator || isolate ? 3 : 0;
}

/* A name of a file may hold anything: what would break a line or a screen becomes '?'. */
static void put_name(FILE *out, const char *name)
{
    bool sound = strview_is_utf8(strview_of(name));
    for (const char *c = name; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        bool bad = byte < 0x20 || byte == 0x7f || (!sound && byte >= 0x80);
        size_t unsafe = sound ? unsafe_bytes(c) : 0;
        (void)putc(bad || unsafe > 0 ? '?' : byte, out);
        c += unsafe > 0 ? unsafe - 1 : 0;
    }
}

/* --- items --- */

static void clear_bar(struct report *report)
{
    if (report->bar_shown && report->same_screen)
        fputs("\r\033[K", report->err);
    report->bar_shown = report->bar_shown && !report->same_screen;
}

static void put_text(struct report *report, const struct log_result *result)
{
    fprintf(report->out, "%s\t", log_outcome_words[result->outcome]);
    put_name(report->out, result->application[0] == '\0' ? "-" : result->application);
    (void)putc('\t', report->out);
    put_name(report->out, result->name);
    (void)putc('\t', report->out);
    put_name(report->out, result->reason);
    if (report->run_ids)
        fprintf(report->out, "\t%s", result->run_id);
    (void)putc('\n', report->out);
}

struct strview log_name_view(struct arena *arena, const char *name)
{
    char *copy = arena_strdup(arena, name);
    if (copy != NULL && !strview_is_utf8(strview_of(copy)))
        for (char *c = copy; *c != '\0'; c++)
            *c = (unsigned char)*c >= 0x80 ? '?' : *c;
    return strview_of(copy);
}

static struct strview report_known(const char *text)
{
    return text[0] == '\0' ? (struct strview){NULL, 0} : strview_of(text);
}

static void write_item(struct writer *w, struct arena *arena, const struct log_result *result)
{
    writer_begin_object(w);
    writer_member_text(w, "name", log_name_view(arena, result->name));
    writer_member_text(w, "application", report_known(result->application));
    writer_member_string(w, "outcome", log_outcome_words[result->outcome]);
    writer_member_text(w, "code", report_known(result->code));
    writer_member_text(w, "reason", report_known(result->reason));
    writer_member_text(w, "run_id", report_known(result->run_id));
    writer_member_integer(w, "warnings", (int64_t)result->warnings);
    writer_member_integer(w, "bytes", (int64_t)result->bytes);
    writer_end_object(w);
    writer_end_line(w);
}

/* A reader who had enough is no failure: the logs that are left are read all the same. */
static void note_written(struct report *report, bool good)
{
    if (!good && errno == EPIPE)
        clearerr(report->out);
    else if (!good)
        report->failed = true;
}

/* Write what `fill` makes of the arena's writer. */
static void put_json(struct report *report, struct writer *w)
{
    size_t n;
    const char *text = writer_finish(w, &n);
    if (text == NULL)
        report->failed = true;
    else
        note_written(report, fwrite(text, 1, n, report->out) == n);
}

static void put_json_item(struct report *report, const struct log_result *result)
{
    struct arena arena;
    struct writer w;
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    write_item(&w, &arena, result);
    put_json(report, &w);
    arena_fini(&arena);
}

void report_item(void *context, const struct log_result *result)
{
    struct report *report = context;
    pthread_mutex_lock(&report->lock);
    report->outcomes[result->outcome]++;
    report->no_logs +=
        result->outcome == LOG_IGNORED && strcmp(result->code, log_unfinished_code) != 0;
    if (report->form == REPORT_JSON) {
        put_json_item(report, result);
    } else if (!report->quiet || result->outcome == LOG_REJECTED) {
        clear_bar(report);
        put_text(report, result);
    }
    /* A line is printed when it is true: whoever reads on the other side sees it at once. */
    note_written(report, fflush(report->out) == 0 && !ferror(report->out));
    pthread_mutex_unlock(&report->lock);
}

/* --- progress --- */

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 1 : (double)part / (double)whole;
}

static void put_bar(struct report *report, const struct log_progress *progress, const char *text)
{
    char bar[BAR_WIDTH + 1];
    size_t full = (size_t)(share(progress->bytes, report->bytes) * BAR_WIDTH);
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', full < BAR_WIDTH ? full : BAR_WIDTH);
    bar[BAR_WIDTH] = '\0';
    fprintf(report->err, "\r\033[K[%s] %s", bar, text);
    report->bar_shown = true;
}

/* "12 of 44 files, 1.0 GiB of 3.4 GiB, 31.0 MiB/s, 1:07 left" */
static void put_progress(struct report *report, const struct log_progress *progress, uint64_t now)
{
    double seconds = (double)(now - report->begun_ns) / 1e9;
    double rate = seconds > 0 ? (double)progress->bytes / seconds : 0;
    uint64_t rest = report->bytes > progress->bytes ? report->bytes - progress->bytes : 0;
    char left[REPORT_NUMBER] = "?";
    if (rate > 0)
        report_format_seconds((double)rest / rate, left);
    char text[512];
    (void)snprintf(text, sizeof text, "%zu of %zu file%s, %s of %s, %s/s, %s left, %zu rejected",
                   progress->items, report->items, PLURAL(report->items),
                   quantity_bytes((double)progress->bytes).text,
                   quantity_bytes((double)report->bytes).text, quantity_bytes(rate).text, left,
                   report->outcomes[LOG_REJECTED]);
    if (report->bar)
        put_bar(report, progress, text);
    else
        fprintf(report->err, "%s: %s\n", report->program, text);
    (void)fflush(report->err);
}

void report_progress(struct report *report, const struct log_progress *progress, uint64_t now_ns)
{
    uint64_t every = (uint64_t)(report->bar ? BAR_EVERY_MS : LINE_EVERY_MS) * NS_PER_MS;
    if (report->quiet || now_ns - report->reported_ns < every)
        return;
    pthread_mutex_lock(&report->lock);
    report->reported_ns = now_ns;
    put_progress(report, progress, now_ns);
    pthread_mutex_unlock(&report->lock);
}

void report_say(struct report *report, const char *text)
{
    pthread_mutex_lock(&report->lock);
    if (report->bar_shown)
        fputs("\r\033[K", report->err);
    report->bar_shown = false;
    fprintf(report->err, "%s: %s\n", report->program, text);
    (void)fflush(report->err);
    pthread_mutex_unlock(&report->lock);
}

/* --- the end --- */

static size_t count_reported(const struct report *report)
{
    size_t reported = 0;
    for (size_t i = 0; i < LOG_OUTCOMES; i++)
        reported += report->outcomes[i];
    return reported;
}

/* An import knows nothing of what would be sent. */
static bool is_counted(const struct report *report, size_t outcome)
{
    return outcome != LOG_PENDING || report->outcomes[outcome] > 0;
}

static void put_json_totals(struct report *report, bool stopped, double seconds)
{
    struct arena arena;
    struct writer w;
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    writer_begin_object(&w);
    writer_key(&w, "totals");
    writer_begin_object(&w);
    for (size_t i = 0; i < LOG_OUTCOMES; i++)
        if (is_counted(report, i))
            writer_member_integer(&w, log_total_words[i], (int64_t)report->outcomes[i]);
    if (report->sent_before > 0)
        writer_member_integer(&w, "sent_before", (int64_t)report->sent_before);
    writer_member_integer(&w, "not_attempted", (int64_t)(report->items - count_reported(report)));
    writer_member_integer(&w, "bytes", (int64_t)report->bytes);
    writer_member_number(&w, "duration_s", seconds);
    writer_member_boolean(&w, "interrupted", stopped);
    writer_member_boolean(&w, "dry_run", report->dry_run);
    writer_end_object(&w);
    writer_end_object(&w);
    writer_end_line(&w);
    put_json(report, &w);
    arena_fini(&arena);
}

static void put_text_totals(struct report *report, bool stopped, double seconds)
{
    const struct quantity_text bytes = quantity_bytes((double)report->bytes);
    char took[REPORT_NUMBER];
    report_format_seconds(seconds, took);
    const char *separator = ": ";
    fprintf(report->err, "%s%s%s", report->program, report->dry_run ? " (dry run)" : "",
            stopped ? " interrupted" : "");
    for (size_t i = 0; i < LOG_OUTCOMES; i++, separator = ", ")
        if (is_counted(report, i))
            fprintf(report->err, "%s%zu %s", separator, report->outcomes[i],
                    report->outcomes[i] == 1 ? log_outcome_words[i] : log_total_words[i]);
    if (report->sent_before > 0)
        fprintf(report->err, ", %zu sent before", report->sent_before);
    size_t left = report->items - count_reported(report);
    if (left > 0)
        fprintf(report->err, ", %zu not attempted", left);
    /* Of standard input nobody knows beforehand. */
    fprintf(report->err, "; %s%s%s\n", report->bytes > 0 ? bytes.text : "",
            report->bytes > 0 ? " in " : "", took);
}

bool report_found_no_log(const struct report *report)
{
    return report->no_logs > 0 && report->no_logs == count_reported(report) &&
           report->sent_before == 0;
}

static void put_no_log(const struct report *report)
{
    fprintf(report->err,
            "%s: no log was read: %zu file%s, none of them a Spark event log or the history of a "
            "MapReduce job\n",
            report->program, report->no_logs, PLURAL(report->no_logs));
}

void report_end(struct report *report, bool stopped, uint64_t now_ns)
{
    double seconds = (double)(now_ns - report->begun_ns) / 1e9;
    if (report->bar_shown)
        fputs("\r\033[K", report->err);
    if (report->form == REPORT_JSON)
        put_json_totals(report, stopped, seconds);
    else if (!report->quiet)
        put_text_totals(report, stopped, seconds);
    if (report_found_no_log(report) && !stopped)
        put_no_log(report);
    note_written(report, fflush(report->out) == 0);
    (void)fflush(report->err);
    (void)pthread_mutex_destroy(&report->lock);
}
