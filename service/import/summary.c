#include "import/summary.h"

#include "base/json_writer.h"
#include "logfiles/report.h"

void summary_init(struct summary *summary, const struct find *find)
{
    *summary = (struct summary){.find = find};
    (void)pthread_mutex_init(&summary->lock, NULL);
    arena_init(&summary->arena, 0);
    summary->refused = arena_array(&summary->arena, SUMMARY_REFUSED_MAX, sizeof *summary->refused);
}

void summary_fini(struct summary *summary)
{
    arena_fini(&summary->arena);
    (void)pthread_mutex_destroy(&summary->lock);
}

void summary_item(void *context, const struct log_result *result)
{
    struct summary *summary = context;
    (void)pthread_mutex_lock(&summary->lock);
    summary->outcomes[result->outcome]++;
    if (result->outcome == LOG_REJECTED && summary->refused != NULL &&
        summary->n_refused < SUMMARY_REFUSED_MAX)
        summary->refused[summary->n_refused++] = *result;
    (void)pthread_mutex_unlock(&summary->lock);
}

static struct strview summary_known(const char *text)
{
    return text[0] == '\0' ? (struct strview){NULL, 0} : strview_of(text);
}

static void write_refused(struct writer *w, struct summary *summary)
{
    writer_key(w, "rejected_logs");
    writer_begin_array(w);
    for (size_t i = 0; i < summary->n_refused; i++) {
        const struct log_result *result = &summary->refused[i];
        writer_begin_object(w);
        writer_member_text(w, "name", log_name_view(&summary->arena, result->name));
        writer_member_text(w, "application", summary_known(result->application));
        writer_member_string(w, "code", result->code);
        writer_member_string(w, "reason", result->reason);
        writer_end_object(w);
    }
    writer_end_array(w);
}

const char *summary_write(struct summary *summary, bool stopped, double seconds, size_t *n)
{
    struct writer w;
    size_t reported = 0;
    writer_init(&w, &summary->arena);
    writer_begin_object(&w);
    for (size_t i = 0; i < LOG_PENDING; i++) {
        writer_member_integer(&w, log_total_words[i], (int64_t)summary->outcomes[i]);
        reported += summary->outcomes[i];
    }
    writer_member_integer(&w, "not_attempted", (int64_t)(summary->find->n - reported));
    writer_member_integer(&w, "bytes", (int64_t)summary->find->bytes);
    writer_member_number(&w, "duration_s", seconds);
    writer_member_boolean(&w, "interrupted", stopped);
    write_refused(&w, summary);
    writer_end_object(&w);
    return writer_finish(&w, n);
}
