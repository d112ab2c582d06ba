#include "ingest/ingest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"

/* The bytes of an archive, plain or out of the framing it came in. */
static enum pv_code take_archive(
    void *context, enum stream_archive kind, const char *bytes, size_t n, struct pv_error *err)
{
    struct ingest *intake = context;
    if (intake->limits.spool == NULL)
        return pv_fail(err, PV_E_MEDIA_TYPE, "archives are not accepted here");
    if (intake->spool == NULL)
        PV_TRY(spool_open(intake->limits.spool, &intake->spool, err));
    intake->kind = kind;
    return spool_write(intake->spool, bytes, n, err);
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
    const char *cut = NULL;
    PV_TRY(stream_finish(intake->stream, &cut, err));
    intake->ended = true;
    intake->read = intake->spool == NULL;
    /* Whether an archive is whole follows from its own end. */
    if (intake->read)
        text_end_member(&intake->text, cut);
    *more = !intake->read;
    return PV_OK;
}

static enum pv_code open_spooled(struct ingest *intake, struct pv_error *err)
{
    struct container *container = NULL;
    int fd = spool_file(intake->spool);
    uint64_t bytes = spool_bytes(intake->spool);
    PV_TRY(intake->kind == STREAM_TAR
               ? container_open_tar(fd, bytes, &container, err)
               : container_open_zip(fd, bytes, &intake->limits, &container, err));
    return ingest_take_container(intake, container, intake->bytes_sent, err);
}

enum pv_code ingest_read(struct ingest *intake, uint64_t budget, bool *more, struct pv_error *err)
{
    PV_TRY(ingest_end(intake, more, err));
    if (intake->read)
        return PV_OK;
    if (intake->bundle == NULL)
        PV_TRY(open_spooled(intake, err));
    bool done = false;
    PV_TRY(bundle_read(intake->bundle, &intake->text, budget, &done, err));
    intake->read = done;
    *more = !done;
    return PV_OK;
}

static enum pv_code warn_missing(const struct bundle *bundle,
                                 struct arena *arena,
                                 struct run *run,
                                 struct pv_error *err)
{
    const char *name;
    uint64_t missing = bundle_missing(bundle);
    uint64_t skipped = bundle_skipped(bundle, &name);
    run->warnings.arena = arena;
    if (missing > 0)
        finding_number(
            finding_add(&run->warnings, "missing_part", "parts of the rolling log are missing"),
            "count", (double)missing);
    bool lacks_jobs = missing > 0 || (bundle_compacted(bundle) && run->jobs_missing);
    if (lacks_jobs && !run->compacted) {
        run->compacted = true;
        run->problem_size = (double)NAN;
        finding_number(
            finding_add(&run->warnings, "compacted_log",
                        "parts of the log are compacted or missing, and so are jobs or tasks: the "
                        "run has no problem size and no stages, and predictions leave it out"),
            "count", 1);
    }
    if (skipped > 0)
        finding_number(
            finding_add(&run->warnings, "skipped_part",
                        "parts of the log are archives themselves, or encrypted, and were"
                        " passed over; one is %s",
                        name),
            "count", (double)skipped);
    return findings_check(&run->warnings, err);
}

/* The missing events of a refused log may be in a part that was passed over: the refusal names it. */
static void blame_skipped(const struct bundle *bundle, struct pv_error *err)
{
    const char *name;
    if (bundle_skipped(bundle, &name) == 0 || err->n_faults == 0)
        return;
    (void)snprintf(err->faults[0].detail, sizeof err->faults[0].detail,
                   "the log lacks its start, and %.60s was passed over, an archive itself or "
                   "encrypted: unpack it, and send all parts together",
                   name);
    err->n_faults = 1; /* it may be a log */
}

/* The first part of a log was sent, so the log is not a later part: the first part lacks its end. */
static void blame_first(const struct bundle *bundle, struct pv_error *err)
{
    const char *cut;
    const char *name = bundle_first_part(bundle, &cut);
    char shown[MEMBERS_SHOWN];
    if (name == NULL || err->n_faults != 1 ||
        strcmp(err->faults[0].code, "no_application_start") != 0)
        return;
    struct pv_fault *fault = &err->faults[0];
    members_show(strview_of(name), shown);
    (void)snprintf(fault->code, sizeof fault->code, "truncated");
    if (cut == NULL)
        (void)snprintf(fault->detail, sizeof fault->detail,
                       "the log lacks the start of its application, which belongs in %.60s: that "
                       "file is cut at its end, or damaged. Send the whole log",
                       shown);
    else
        (void)snprintf(fault->detail, sizeof fault->detail,
                       "the %s stream of %.50s ends in the middle of a frame, before the start of "
                       "the application: the file is cut at its end. Send the whole log",
                       cut, shown);
}

enum pv_code ingest_finish(struct ingest *intake,
                           struct arena *arena,
                           struct run *run,
                           unsigned char digest[INGEST_DIGEST],
                           struct pv_error *err)
{
    bool more = false;
    struct run made;
    PV_TRY(ingest_read(intake, UINT64_MAX, &more, err));
    enum pv_code code = text_finish(&intake->text, arena, &made, digest, err);
    if (code == PV_E_INVALID && intake->bundle != NULL) {
        blame_first(intake->bundle, err);
        blame_skipped(intake->bundle, err);
    }
    PV_TRY(code);
    if (intake->bundle != NULL)
        PV_TRY(warn_missing(intake->bundle, arena, &made, err));
    *run = made;
    return PV_OK;
}

struct ingest_counts ingest_counts(const struct ingest *intake)
{
    return (struct ingest_counts){.bytes_sent = intake->bytes_sent,
                                  .read = joblog_counts(intake->text.log)};
}
