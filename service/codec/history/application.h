#ifndef CODEC_HISTORY_APPLICATION_H
#define CODEC_HISTORY_APPLICATION_H

#include "base/json_writer.h"
#include "codec/json/reader.h"

/*
 * An application's own fields as they stand on the wire. The store's struct application holds them
 * beside its keys; api/history/applications.c moves them over, so that this room need not know the
 * store.
 */
struct codec_application {
    const char *id; /* replies only */
    struct strview name;
    bool has_description; /* the member was sent, maybe as null */
    struct strview description;
    bool has_labels;
    struct run_label *labels;
    size_t n_labels;
    bool has_retention;
    int64_t retention_days; /* RUN_UNKNOWN: the service's default */
    int64_t retention_runs; /* likewise */
    /* replies only */
    int64_t runs;
    int64_t created_us;
    int64_t updated_us;
};

/* POST: {name, description?, labels?}. */
void codec_application_decode(const struct codec_node *node,
                              size_t labels_max,
                              struct codec_application *application);

/*
 * PATCH: {description?, labels?, retention?}. Each member that is there replaces the old value as a
 * whole; null clears it. retention: {days?: 1.., runs?: 1..}. No member at all is a fault.
 */
void codec_application_decode_change(const struct codec_node *node,
                                     size_t labels_max,
                                     struct codec_application *application);

void codec_application_encode(struct writer *w, const struct codec_application *application);

#endif
