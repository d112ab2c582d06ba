#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/ingest.h"
#include "ingest/ingest_internal.h"
#include "ingest/sniff.h"

enum { BLOCK = 256 * 1024, TURN = 16 * BLOCK };

static enum pv_code fail_system(struct pv_error *err)
{
    return pv_fail(err, PV_E_NOT_FOUND, "cannot be read: %s", strerror(errno));
}

/* Ask whoever looks on whether to go on. */
static enum pv_code ask_to_go_on(const struct ingest *intake, uint64_t bytes, struct pv_error *err)
{
    const struct ingest_watch *watch = intake->limits.watch;
    if (watch == NULL || watch->go_on(watch->context, bytes))
        return PV_OK;
    return pv_fail(err, PV_E_CANCELLED, "reading was stopped");
}

static ssize_t read_block(int fd, char *bytes, size_t n)
{
    ssize_t got;
    do
        got = read(fd, bytes, n);
    while (got < 0 && errno == EINTR);
    return got;
}

static enum pv_code feed_blocks(struct ingest *intake, int fd, char *block, struct pv_error *err)
{
    for (;;) {
        ssize_t n = read_block(fd, block, BLOCK);
        if (n == 0)
            return PV_OK;
        if (n < 0)
            return fail_system(err);
        PV_TRY(ingest_feed(intake, block, (size_t)n, err));
        PV_TRY(ask_to_go_on(intake, intake->bytes_sent, err));
    }
}

static enum pv_code feed_file(struct ingest *intake, int fd, struct pv_error *err)
{
    char *block = malloc(BLOCK);
    if (block == NULL)
        return pv_no_memory(err);
    enum pv_code code = feed_blocks(intake, fd, block, err);
    free(block);
    return code;
}

/* An archive on disk is its own spool. */
static enum pv_code open_file(struct ingest *intake, int fd, uint64_t bytes, struct pv_error *err)
{
    unsigned char head[SNIFF_BYTES];
    ssize_t n = pread(fd, head, sizeof head, 0);
    if (n < 0)
        return fail_system(err);
    enum sniffed what = sniff(head, (size_t)n, true);
    if (what != SNIFF_TAR && what != SNIFF_ZIP)
        return feed_file(intake, fd, err);
    if (bytes > intake->limits.sent_bytes)
        return pv_fail(err, PV_E_TOO_LARGE,
                       "an event log may have at most %llu bytes (eventlog_bytes_max)",
                       (unsigned long long)intake->limits.sent_bytes);
    intake->bytes_sent = bytes;
    struct container *container = NULL;
    PV_TRY(what == SNIFF_TAR ? container_open_tar(fd, bytes, &container, err)
                             : container_open_zip(fd, bytes, &intake->limits, &container, err));
    return ingest_take_container(intake, container, bytes, err);
}

static enum pv_code open_folder(struct ingest *intake, int fd, struct pv_error *err)
{
    struct container *container = NULL;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return fail_system(err);
    PV_TRY(container_open_folder(own, &container, err));
    return ingest_take_container(intake, container, 0, err);
}

static enum pv_code open_any(struct ingest *intake, int fd, struct pv_error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail_system(err);
    if (S_ISDIR(status.st_mode))
        return open_folder(intake, fd, err);
    if (S_ISREG(status.st_mode))
        return open_file(intake, fd, (uint64_t)status.st_size, err);
    return pv_fail(err, PV_E_NOT_FOUND, "cannot be read: neither a file nor a folder");
}

/* What ingest_finish would do at once, in turns. */
static enum pv_code read_rest(struct ingest *intake, struct pv_error *err)
{
    for (bool more = true; more;) {
        PV_TRY(ingest_read(intake, TURN, &more, err));
        if (intake->bundle != NULL)
            PV_TRY(ask_to_go_on(intake, bundle_stored_bytes(intake->bundle), err));
    }
    return PV_OK;
}

enum pv_code ingest_read_path(const char *path,
                              const struct ingest_limits *limits,
                              struct arena *arena,
                              struct run *run,
                              unsigned char digest[INGEST_DIGEST],
                              struct pv_error *err)
{
    /* Not waiting for a writer, should it be a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_system(err);
    struct ingest *intake = ingest_create(limits);
    enum pv_code code = intake == NULL ? pv_no_memory(err) : open_any(intake, fd, err);
    if (code == PV_OK)
        code = read_rest(intake, err);
    if (code == PV_OK)
        code = ingest_finish(intake, arena, run, digest, err);
    ingest_destroy(intake);
    (void)close(fd);
    return code;
}
