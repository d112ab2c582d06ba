#include "intake/intake.h"

#include <sodium.h>
#include <stdlib.h>

#include "core/joblog/joblog.h"

struct intake {
    struct intake_limits limits;
    struct framing *framing;
    struct joblog *log;
    crypto_generichash_state digest;
    uint64_t bytes_sent;
};

void intake_limits_read(const struct config *config, struct intake_limits *limits)
{
    *limits = (struct intake_limits){
        .sent_bytes = (uint64_t)config->eventlog_bytes_max,
        .framing = {.total_bytes = (uint64_t)config->eventlog_plain_bytes_max,
                    .ratio = (double)config->eventlog_ratio_max,
                    .window_log_max = (unsigned)config->zstd_window_log_max,
                    .block_bytes_max = (size_t)config->eventlog_block_bytes_max},
        .log = {.line_bytes = (size_t)config->eventlog_line_bytes_max,
                .stages = (size_t)config->stages_max,
                .tasks = (size_t)config->tasks_max,
                .memory_bytes = (size_t)config->eventlog_memory_bytes_max},
    };
}

static enum pv_code take_plain(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    struct intake *intake = context;
    (void)crypto_generichash_update(&intake->digest, (const unsigned char *)bytes, n);
    return joblog_feed(intake->log, bytes, n, err);
}

struct intake *intake_create(const struct intake_limits *limits)
{
    struct intake *intake = calloc(1, sizeof *intake);
    if (intake == NULL)
        return NULL;
    intake->limits = *limits;
    (void)crypto_generichash_init(&intake->digest, NULL, 0, INTAKE_DIGEST);
    intake->log = joblog_create(&limits->log);
    intake->framing = framing_create(&limits->framing, take_plain, intake);
    if (intake->log != NULL && intake->framing != NULL)
        return intake;
    intake_destroy(intake);
    return NULL;
}

void intake_destroy(struct intake *intake)
{
    if (intake == NULL)
        return;
    framing_destroy(intake->framing);
    joblog_destroy(intake->log);
    free(intake);
}

enum pv_code intake_feed(struct intake *intake, const char *bytes, size_t n, struct pv_error *err)
{
    intake->bytes_sent += n;
    if (intake->bytes_sent > intake->limits.sent_bytes)
        return pv_fail(err, PV_E_TOO_LARGE,
                       "an event log may have at most %llu bytes as sent (eventlog_bytes_max)",
                       (unsigned long long)intake->limits.sent_bytes);
    return framing_feed(intake->framing, bytes, n, err);
}

enum pv_code intake_finish(struct intake *intake,
                           struct arena *arena,
                           struct run *run,
                           unsigned char digest[INTAKE_DIGEST],
                           struct pv_error *err)
{
    if (intake->bytes_sent == 0)
        return pv_fail(err, PV_E_INVALID, "there are no bytes where an event log is expected");
    bool truncated = false;
    enum pv_code code = framing_finish(intake->framing, &truncated, err);
    if (code != PV_OK)
        return code;
    if (truncated)
        joblog_note_truncated(intake->log);
    code = joblog_finish(intake->log, arena, run, err);
    if (code == PV_OK)
        (void)crypto_generichash_final(&intake->digest, digest, INTAKE_DIGEST);
    return code;
}

struct intake_counts intake_counts(const struct intake *intake)
{
    return (struct intake_counts){.bytes_sent = intake->bytes_sent,
                                  .read = joblog_counts(intake->log)};
}
