#define _GNU_SOURCE /* O_TMPFILE */
#include "ingest/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RETRY_AFTER_S = 10 };

struct spool {
    struct spool_quota *quota;
    int fd;
    uint64_t bytes;
};

void spool_quota_init(struct spool_quota *quota, const struct config *config)
{
    (void)snprintf(quota->directory, sizeof quota->directory, "%s", config->spool_directory);
    quota->bytes_max = (uint64_t)config->spool_bytes_max;
    quota->total_bytes_max = (uint64_t)config->spool_total_bytes_max;
    atomic_init(&quota->used, 0);
}

/* Not every file system can make a file without a name: there it loses its name at once. */
static int make_file(const char *directory)
{
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char path[1024 + 32];
    (void)snprintf(path, sizeof path, "%s/provisor-spool-XXXXXX", directory);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}

enum pv_code spool_open(struct spool_quota *quota, struct spool **spool, struct pv_error *err)
{
    struct spool *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->quota = quota;
    made->fd = make_file(quota->directory);
    if (made->fd < 0) {
        free(made);
        return pv_fail(err, PV_E_UNAVAILABLE,
                       "no upload can be spooled: no file can be made in spool_directory: %s",
                       strerror(errno));
    }
    *spool = made;
    return PV_OK;
}

void spool_close(struct spool *spool)
{
    if (spool == NULL)
        return;
    (void)close(spool->fd);
    (void)atomic_fetch_sub(&spool->quota->used, spool->bytes);
    free(spool);
}

/* A compare-and-swap, so that what does not fit never keeps others out, not even for a moment. */
static bool spool_reserve(struct spool_quota *quota, uint64_t n)
{
    uint64_t used = atomic_load(&quota->used);
    do {
        if (used > quota->total_bytes_max || n > quota->total_bytes_max - used)
            return false;
    } while (!atomic_compare_exchange_weak(&quota->used, &used, used + n));
    return true;
}

static enum pv_code fail_later(struct pv_error *err, const char *why)
{
    if (err != NULL)
        err->retry_after_s = RETRY_AFTER_S;
    return pv_fail(err, PV_E_UNAVAILABLE, "the upload cannot be taken just now: %s", why);
}

static enum pv_code
write_all(int fd, uint64_t at, const char *bytes, size_t n, struct pv_error *err)
{
    while (n > 0) {
        ssize_t written = pwrite(fd, bytes, n, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && (errno == ENOSPC || errno == EDQUOT))
            return fail_later(err, "no space is left in spool_directory");
        if (written <= 0)
            return fail_later(err, strerror(errno));
        bytes += written;
        at += (uint64_t)written;
        n -= (size_t)written;
    }
    return PV_OK;
}

enum pv_code spool_write(struct spool *spool, const char *bytes, size_t n, struct pv_error *err)
{
    struct spool_quota *quota = spool->quota;
    if (n > quota->bytes_max - spool->bytes)
        return pv_fail(err, PV_E_TOO_LARGE,
                       "an upload may take at most %" PRIu64 " bytes on disk (spool_bytes_max)",
                       quota->bytes_max);
    if (!spool_reserve(quota, n))
        return fail_later(err, "the uploads under way take all of spool_total_bytes_max");
    uint64_t at = spool->bytes;
    spool->bytes += n;
    return write_all(spool->fd, at, bytes, n, err);
}

int spool_file(const struct spool *spool)
{
    return spool->fd;
}

uint64_t spool_bytes(const struct spool *spool)
{
    return spool->bytes;
}
