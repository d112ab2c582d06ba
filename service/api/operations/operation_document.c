#include "api/operations/operation_document.h"

#include "http/problem.h"

int64_t operation_estimate_end(const struct operation_row *o)
{
    if (o->status != OPERATION_RUNNING || o->total == RUN_UNKNOWN || o->attempt_done <= 0 ||
        o->attempt_done > o->total || o->updated_us <= o->started_us)
        return RUN_NO_INSTANT;
    double spent_us = (double)(o->updated_us - o->started_us);
    double left_us = spent_us * (double)(o->total - o->attempt_done) / (double)o->attempt_done;
    const double century_us = 100.0 * 365 * 86400 * 1e6;
    return left_us > century_us ? RUN_NO_INSTANT : o->updated_us + (int64_t)left_us;
}

void operation_progress_write(struct writer *w, int64_t done, int64_t total, struct strview unit)
{
    writer_begin_object(w);
    writer_member_integer(w, "done", done);
    writer_member_count(w, "total", total);
    writer_member_text(w, "unit", unit);
    writer_end_object(w);
}

/* JSON text as it was stored, or null. */
static void put_document(struct writer *w, const char *key, struct strview text)
{
    writer_key(w, key);
    if (text.at == NULL)
        writer_null(w);
    else
        writer_raw(w, text);
}

void operation_document_write(struct writer *w, const struct operation_row *o, bool detailed)
{
    writer_begin_object(w);
    writer_member_string(w, "id", o->id);
    writer_member_text(w, "kind", o->kind);
    writer_member_text(w, "application", o->application_name);
    writer_member_string(w, "status", operation_status_word(o->status));
    writer_key(w, "progress");
    operation_progress_write(w, o->done, o->total, o->unit);
    writer_member_count(w, "queue_position", o->position);
    writer_member_integer(w, "attempt", o->attempt);
    writer_member_text(w, "requested_by", o->actor);
    writer_member_instant(w, "created_at", o->created_us);
    writer_member_instant(w, "started_at", o->started_us);
    writer_member_instant(w, "updated_at", o->updated_us);
    writer_member_instant(w, "estimated_end_at", operation_estimate_end(o));
    writer_member_instant(w, "cancel_requested_at", o->cancel_asked_us);
    writer_member_instant(w, "finished_at", o->finished_us);
    writer_member_instant(w, "expires_at", o->expires_us);
    if (detailed)
        put_document(w, "request", o->request);
    if (detailed)
        put_document(w, "result", o->result);
    put_document(w, "error", o->error);
    writer_end_object(w);
}

const char *operation_describe_error(struct arena *arena, const struct pv_error *err, size_t *n)
{
    return http_problem_write(arena, http_status_of(err->code), err, NULL, NULL, n);
}
