#define _GNU_SOURCE /* O_TMPFILE */
#include "ingest/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resources/resources.h"

enum { RETRY_AFTER_S = 10 };

struct spool {
    const struct spool_place *place;
    struct ledger_account account;
    int fd;
    uint64_t bytes;
};

void spool_place_init(struct spool_place *place,
                      const struct config *config,
                      struct ledger_share *share)
{
    *place = (struct spool_place){.directory = config->spool_directory,
                                  .bytes_max = (uint64_t)config->spool_bytes_max,
                                  .share = share};
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

enum pv_code spool_open(const struct spool_place *place, struct spool **spool, struct pv_error *err)
{
    struct spool *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->place = place;
    made->account.share = place->share;
    made->fd = make_file(place->directory);
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
    ledger_give(&spool->account, spool->account.used);
    free(spool);
}

static enum pv_code fail_later(struct pv_error *err, const char *why)
{
    if (err != NULL)
        err->retry_after_s = RETRY_AFTER_S;
    return pv_fail(err, PV_E_UNAVAILABLE, "the upload cannot be accepted just now: %s", why);
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
    if (n > spool->place->bytes_max - spool->bytes)
        return pv_fail(err, PV_E_TOO_LARGE,
                       "an upload may take at most %" PRIu64 " bytes on disk (spool_bytes_max)",
                       spool->place->bytes_max);
    if (!ledger_take(&spool->account, n))
        return resources_refuse(&spool->account, RESOURCE_SPOOL, err);
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
