#include "ingest/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/peek.h"
#include "ingest/stream.h"

enum {
    BLOCK = 64 * 1024,
    READER = 256 * 1024 /* bytes of a container: its block, and what the library reads with */
};

struct bundle {
    struct ingest_limits limits;
    struct container *container;
    struct members members;
    const struct member_log *log; /* NULL before the list was looked at */
    size_t next;                  /* part to open */
    struct stream *stream;        /* of the open part, or NULL */
    uint64_t part_from;           /* bytes of the log before it */
    uint64_t skipped;             /* parts that are archives themselves */
    char first_skipped[MEMBERS_SHOWN];
    const char *first_cut;  /* name of the compression if the first part was cut; else NULL */
    uint64_t archive_bytes; /* as sent; 0: a folder, what is read of it counts */
    uint64_t stored_bytes;  /* read */
    char block[BLOCK];
};

enum pv_code bundle_open(struct container *container,
                         const struct ingest_limits *limits,
                         uint64_t stored_bytes,
                         struct bundle **bundle,
                         struct pv_error *err)
{
    bool allowed = ledger_take(limits->log.account, sizeof(struct bundle) + READER);
    struct bundle *made = allowed ? calloc(1, sizeof *made) : NULL;
    if (made == NULL) {
        if (allowed)
            ledger_give(limits->log.account, sizeof *made + READER);
        container_close(container);
        return pv_no_memory(err);
    }
    made->limits = *limits;
    made->container = container;
    made->archive_bytes = stored_bytes;
    members_init(&made->members, limits->archive_entries, limits->archive_name_bytes,
                 limits->log.account);
    *bundle = made;
    return PV_OK;
}

void bundle_close(struct bundle *bundle)
{
    if (bundle == NULL)
        return;
    stream_destroy(bundle->stream);
    container_close(bundle->container);
    members_fini(&bundle->members);
    ledger_give(bundle->limits.log.account, sizeof *bundle + READER);
    free(bundle);
}

static void blame(const struct member *member, struct pv_error *err)
{
    if (err == NULL)
        return;
    char shown[MEMBERS_SHOWN];
    char detail[sizeof err->detail];
    members_show(strview_of(member->name), shown);
    (void)snprintf(detail, sizeof detail, "%s: %.160s", shown, err->detail);
    memcpy(err->detail, detail, sizeof detail);
}

/*
 * Beside a log there may lie what is none: a note, the driver's output, a job's configuration.
 * Where there seem to be several logs, files of names of their own count only if they look like
 * one.
 */
static enum pv_code drop_strangers(struct bundle *bundle, struct pv_error *err)
{
    struct members *members = &bundle->members;
    enum pv_code code = PV_OK;
    size_t kept = 0;
    for (size_t i = 0; code == PV_OK && i < members->n_logs && members->n_logs > 1; i++) {
        const struct member *member = members->logs[i].members;
        bool keep = true;
        if (member->layout == MEMBER_SINGLE)
            code = peek_at_member(bundle->container, member, &bundle->limits.framing, &keep, err);
        if (code != PV_OK)
            blame(member, err);
        if (keep)
            members->logs[kept++] = members->logs[i];
    }
    if (kept > 0)
        members->n_logs = kept;
    return code;
}

static enum pv_code look_at_list(struct bundle *bundle, struct pv_error *err)
{
    PV_TRY(container_list(bundle->container, &bundle->members, err));
    PV_TRY(members_arrange(&bundle->members, err));
    PV_TRY(drop_strangers(bundle, err));
    return members_one_log(&bundle->members, &bundle->log, err);
}

static enum pv_code refuse_archive(
    void *context, enum stream_archive kind, const char *bytes, size_t n, struct pv_error *err)
{
    (void)context;
    (void)bytes;
    (void)n;
    return pv_fail(err, PV_E_MEDIA_TYPE, "it is a %s within an archive; send it by itself",
                   kind == STREAM_TAR ? "tar" : "zip");
}

static enum pv_code
bundle_open_member(struct bundle *bundle, struct text *text, struct pv_error *err)
{
    const struct member *member = &bundle->log->members[bundle->next];
    PV_TRY(container_open_member(bundle->container, member, err));
    bundle->stream = stream_create(&bundle->limits.framing, text, refuse_archive, NULL);
    bundle->part_from = text->bytes;
    return bundle->stream == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code end_member(struct bundle *bundle, struct text *text, struct pv_error *err)
{
    const char *cut = NULL;
    enum pv_code code = stream_finish(bundle->stream, &cut, err);
    stream_destroy(bundle->stream);
    bundle->stream = NULL;
    text_end_member(text, cut);
    if (bundle->next == 0)
        bundle->first_cut = cut;
    return code;
}

/*
 * Parts may share their bytes (entries of a zip that overlap, holes of a sparse tar), so each of
 * them can look harmless by itself.
 */
static enum pv_code
check_whole(const struct bundle *bundle, const struct text *text, struct pv_error *err)
{
    uint64_t stored = bundle->archive_bytes > 0 ? bundle->archive_bytes : bundle->stored_bytes;
    if (compression_ratio_exceeded(text->bytes, stored, bundle->limits.framing.ratio))
        return pv_fail(err, PV_E_LIMIT,
                       "the archive is compressed more than %.0f times (eventlog_ratio_max)",
                       bundle->limits.framing.ratio);
    if (bundle->archive_bytes == 0 && stored > bundle->limits.sent_bytes)
        return pv_fail(err, PV_E_TOO_LARGE,
                       "an event log may have at most %llu bytes (eventlog_bytes_max)",
                       (unsigned long long)bundle->limits.sent_bytes);
    return PV_OK;
}

/* One block of the log, or the end of a part. */
static enum pv_code bundle_step(struct bundle *bundle, struct text *text, struct pv_error *err)
{
    size_t n = 0;
    if (bundle->stream == NULL)
        PV_TRY(bundle_open_member(bundle, text, err));
    PV_TRY(container_read(bundle->container, bundle->block, BLOCK, &n, err));
    bundle->stored_bytes += n;
    if (n > 0) {
        PV_TRY(stream_feed(bundle->stream, bundle->block, n, err));
        return check_whole(bundle, text, err);
    }
    PV_TRY(end_member(bundle, text, err));
    bundle->next++;
    return PV_OK;
}

static const char *base_name(const struct member *member)
{
    const char *slash = strrchr(member->name, '/');
    return slash == NULL ? member->name : slash + 1;
}

/* Named like a part, but packed as none is (an archive, or encrypted): the others are read. */
static bool skip_part(struct bundle *bundle, const struct text *text)
{
    const struct member *member = &bundle->log->members[bundle->next];
    if (text->bytes != bundle->part_from || bundle->skipped + 1 >= bundle->log->n)
        return false;
    if (bundle->skipped++ == 0)
        members_show(strview_of(base_name(member)), bundle->first_skipped);
    stream_destroy(bundle->stream);
    bundle->stream = NULL;
    bundle->next++;
    return true;
}

enum pv_code bundle_read(
    struct bundle *bundle, struct text *text, uint64_t budget, bool *done, struct pv_error *err)
{
    enum pv_code code = bundle->log == NULL ? look_at_list(bundle, err) : PV_OK;
    uint64_t before = text->bytes + bundle->stored_bytes;
    while (code == PV_OK && bundle->next < bundle->log->n &&
           text->bytes + bundle->stored_bytes - before < budget) {
        const struct member *member = &bundle->log->members[bundle->next];
        code = bundle_step(bundle, text, err);
        if (code == PV_E_MEDIA_TYPE && skip_part(bundle, text)) {
            pv_error_clear(err);
            code = PV_OK;
        }
        if (code != PV_OK)
            blame(member, err);
    }
    if (code == PV_OK)
        *done = bundle->next == bundle->log->n;
    return code;
}

uint64_t bundle_missing(const struct bundle *bundle)
{
    return bundle->log == NULL ? 0 : bundle->log->missing;
}

bool bundle_compacted(const struct bundle *bundle)
{
    return bundle->log != NULL && bundle->log->n > 0 && bundle->log->members[0].compact;
}

uint64_t bundle_skipped(const struct bundle *bundle, const char **first)
{
    *first = bundle->first_skipped;
    return bundle->skipped;
}

const char *bundle_first_part(const struct bundle *bundle, const char **cut)
{
    *cut = bundle->first_cut;
    if (bundle->log == NULL || bundle->log->n == 0)
        return NULL;
    const struct member *first = bundle->log->members;
    bool is_first = first->layout == MEMBER_ROLLING && first->number <= 1;
    return is_first || *cut != NULL ? base_name(first) : NULL;
}

uint64_t bundle_stored_bytes(const struct bundle *bundle)
{
    return bundle->stored_bytes;
}
