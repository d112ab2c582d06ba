#include "codec/history/application.h"

enum { DESCRIPTION_BYTES_MAX = 4096 };
static const int64_t DAYS_MAX = 36500;
static const int64_t RUNS_MAX = 1000000000;

static void decode_common(const struct codec_node *node,
                          size_t labels_max,
                          struct codec_application *application)
{
    application->has_description = codec_member(node, "description").json != NULL;
    application->description =
        codec_text(node, "description", CODEC_NULLABLE, 0, DESCRIPTION_BYTES_MAX);
    application->has_labels = codec_member(node, "labels").json != NULL;
    codec_labels(node, "labels", CODEC_NULLABLE, labels_max, &application->labels,
                 &application->n_labels);
}

static void start(struct codec_application *application)
{
    *application = (struct codec_application){.retention_days = RUN_UNKNOWN,
                                              .retention_runs = RUN_UNKNOWN,
                                              .runs = 0,
                                              .created_us = RUN_NO_INSTANT,
                                              .updated_us = RUN_NO_INSTANT};
}

void codec_application_decode(const struct codec_node *node,
                              size_t labels_max,
                              struct codec_application *application)
{
    static const char *const known[] = {"name", "description", "labels", NULL};
    start(application);
    codec_refuse_unknown(node, known);
    application->name = codec_name(node, "name", CODEC_REQUIRED);
    decode_common(node, labels_max, application);
}

static void decode_retention(const struct codec_node *node, struct codec_application *application)
{
    static const char *const known[] = {"days", "runs", NULL};
    application->has_retention = codec_member(node, "retention").json != NULL;
    struct codec_node retention = codec_object(node, "retention", CODEC_NULLABLE);
    if (retention.json == NULL)
        return;
    codec_refuse_unknown(&retention, known);
    application->retention_days = codec_integer(&retention, "days", CODEC_NULLABLE, 1, DAYS_MAX);
    application->retention_runs = codec_integer(&retention, "runs", CODEC_NULLABLE, 1, RUNS_MAX);
}

void codec_application_decode_change(const struct codec_node *node,
                                     size_t labels_max,
                                     struct codec_application *application)
{
    static const char *const known[] = {"description", "labels", "retention", NULL};
    start(application);
    codec_refuse_unknown(node, known);
    decode_common(node, labels_max, application);
    decode_retention(node, application);
    if (json_object_size(node->json) == 0)
        codec_fault(node, "required", "needs at least one of description, labels, retention");
}

static void encode_retention(struct writer *w, const struct codec_application *application)
{
    writer_key(w, "retention");
    writer_begin_object(w);
    writer_member_count(w, "days", application->retention_days);
    writer_member_count(w, "runs", application->retention_runs);
    writer_end_object(w);
}

void codec_application_encode(struct writer *w, const struct codec_application *application)
{
    writer_begin_object(w);
    writer_member_string(w, "id", application->id);
    writer_member_text(w, "name", application->name);
    writer_member_text(w, "description", application->description);
    writer_key(w, "labels");
    writer_begin_object(w);
    for (size_t i = 0; i < application->n_labels; i++) {
        writer_key_view(w, application->labels[i].key);
        writer_text(w, application->labels[i].value);
    }
    writer_end_object(w);
    encode_retention(w, application);
    writer_member_count(w, "runs", application->runs);
    writer_member_instant(w, "created_at", application->created_us);
    writer_member_instant(w, "updated_at", application->updated_us);
    writer_end_object(w);
}
