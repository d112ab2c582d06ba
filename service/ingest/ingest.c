#include "ingest/ingest.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"

void ingest_limits_read(const struct config *config, struct ingest_limits *limits)
{
    *limits = (struct ingest_limits){
        .sent_bytes = (uint64_t)config->eventlog_bytes_max,
        .framing = {.total_bytes = (uint64_t)config->eventlog_plain_bytes_max,
                    .ratio = (double)config->eventlog_ratio_max,
                    .window_log_max = (unsigned)config->zstd_window_log_max,
                    .block_bytes_max = (size_t)config->eventlog_block_bytes_max},
        .log = {.line_bytes = (size_t)config->eventlog_line_bytes_max,
                .stages = (size_t)config->stages_max,
                .tasks = (size_t)config->tasks_max,
                .memory_bytes = (size_t)config->eventlog_memory_bytes_max},
        .archive_entries = (size_t)config->archive_entries_max,
        .archive_name_bytes = (size_t)config->archive_name_bytes_max,
    };
}

/* The bytes of an archive, plain or out of the framing it came in. */
static enum pv_code take_archive(
    void *context, enum stream_archive kind, const char *bytes, size_t n, struct pv_error *err)
{
    struct ingest *intake = context;
    if (intake->limits.spool == NULL)
        return pv_fail(err, PV_E_MEDIA_TYPE, "archives are not taken here");
    enum pv_code code = PV_OK;
    if (intake->spool == NULL)
        code = spool_open(intake->limits.spool, &intake->spool, err);
    intake->kind = kind;
    return code == PV_OK ? spool_write(intake->spool, bytes, n, err) : code;
}

struct ingest *ingest_create(const struct ingest_limits *limits)
{
    struct ingest *intake = calloc(1, sizeof *intake);
    if (intake == NULL)
        return NULL;
    intake->limits = *limits;
    bool ready = text_init(&intake->text, limits);
    intake->stream = stream_create(&limits->framing, &intake->text, take_archive, intake);
    if (ready && intake->stream != NULL)
        return intake;
    ingest_destroy(intake);
    return NULL;
}

void ingest_destroy(struct ingest *intake)
{
    if (intake == NULL)
        return;
    bundle_close(intake->bundle);
    spool_close(intake->spool);
    stream_destroy(intake->stream);
    text_fini(&intake->text);
    free(intake);
}

enum pv_code ingest_feed(struct ingest *intake, const char *bytes, size_t n, struct pv_error *err)
{
    intake->bytes_sent += n;
    if (intake->bytes_sent > intake->limits.sent_bytes)
        return pv_fail(err, PV_E_TOO_LARGE,
                       "an event log may have at most %llu bytes as sent (eventlog_bytes_max)",
                       (unsigned long long)intake->limits.sent_bytes);
    return stream_feed(intake->stream, bytes, n, err);
}

enum pv_code ingest_take_container(struct ingest *intake,
                                   struct container *container,
                                   uint64_t stored_bytes,
                                   struct pv_error *err)
{
    intake->ended = true;
    intake->read = false;
    return bundle_open(container, &intake->limits, stored_bytes, &intake->bundle, err);
}

enum pv_code ingest_end(struct ingest *intake, bool *more, struct pv_error *err)
{
    if (intake->ended) {
        *more = !intake->read;
        return PV_OK;
    }
    if (intake->bytes_sent == 0)
        return pv_fail(err, PV_E_INVALID, "there are no bytes where an event log is expected");
    bool truncated = false;
    enum pv_code code = stream_finish(intake->stream, &truncated, err);
    if (code != PV_OK)
        return code;
    intake->ended = true;
    intake->read = intake->spool == NULL;
    /* Whether an archive is whole follows from its own end. */
    if (intake->read)
        text_end_part(&intake->text, truncated);
    *more = !intake->read;
    return PV_OK;
}

static enum pv_code open_spooled(struct ingest *intake, struct pv_error *err)
{
    struct container *container = NULL;
    int fd = spool_file(intake->spool);
    uint64_t bytes = spool_bytes(intake->spool);
    enum pv_code code = intake->kind == STREAM_TAR
                            ? container_open_tar(fd, bytes, &container, err)
                            : container_open_zip(fd, bytes, &intake->limits, &container, err);
    if (code != PV_OK)
        return code;
    return ingest_take_container(intake, container, intake->bytes_sent, err);
}

enum pv_code ingest_read(struct ingest *intake, uint64_t budget, bool *more, struct pv_error *err)
{
    enum pv_code code = ingest_end(intake, more, err);
    if (code != PV_OK || intake->read)
        return code;
    if (intake->bundle == NULL)
        code = open_spooled(intake, err);
    bool done = false;
    if (code == PV_OK)
        code = bundle_read(intake->bundle, &intake->text, budget, &done, err);
    if (code != PV_OK)
        return code;
    intake->read = done;
    *more = !done;
    return PV_OK;
}

static enum pv_code
warn_missing(uint64_t missing, struct arena *arena, struct run *run, struct pv_error *err)
{
    run->warnings.arena = arena;
    if (missing > 0)
        finding_number(
            finding_add(&run->warnings, "missing_part", "parts of the rolling log are not there"),
            "count", (double)missing);
    return findings_check(&run->warnings, err);
}

enum pv_code ingest_finish(struct ingest *intake,
                           struct arena *arena,
                           struct run *run,
                           unsigned char digest[INTAKE_DIGEST],
                           struct pv_error *err)
{
    bool more = false;
    enum pv_code code = ingest_read(intake, UINT64_MAX, &more, err);
    struct run made;
    if (code == PV_OK)
        code = text_finish(&intake->text, arena, &made, digest, err);
    if (code == PV_OK && intake->bundle != NULL)
        code = warn_missing(bundle_missing(intake->bundle), arena, &made, err);
    if (code == PV_OK)
        *run = made;
    return code;
}

struct ingest_counts ingest_counts(const struct ingest *intake)
{
    return (struct ingest_counts){.bytes_sent = intake->bytes_sent,
                                  .read = joblog_counts(intake->text.log)};
}
