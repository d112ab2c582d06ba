#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "intake/intake.h"

enum { BLOCK = 256 * 1024 };

static enum pv_code fail_system(struct pv_error *err)
{
    return pv_fail(err, PV_E_NOT_FOUND, "cannot be read: %s", strerror(errno));
}

static enum pv_code feed_all(struct intake *intake, int fd, char *block, struct pv_error *err)
{
    for (;;) {
        ssize_t n = read(fd, block, BLOCK);
        if (n == 0)
            return PV_OK;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_system(err);
        enum pv_code code = intake_feed(intake, block, (size_t)n, err);
        if (code != PV_OK)
            return code;
    }
}

enum pv_code intake_read_path(const char *path,
                              const struct intake_limits *limits,
                              struct arena *arena,
                              struct run *run,
                              unsigned char digest[INTAKE_DIGEST],
                              struct pv_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_system(err);
    struct intake *intake = intake_create(limits);
    char *block = malloc(BLOCK);
    enum pv_code code = PV_OK;
    if (intake == NULL || block == NULL)
        code = pv_fail(err, PV_E_MEMORY, "out of memory");
    if (code == PV_OK)
        code = feed_all(intake, fd, block, err);
    if (code == PV_OK)
        code = intake_finish(intake, arena, run, digest, err);
    free(block);
    intake_destroy(intake);
    (void)close(fd);
    return code;
}
