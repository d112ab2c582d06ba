/*
 * Quotas of cgroups: cpu.max of version 2, or cpu.cfs_quota_us and cpu.cfs_period_us of version 1,
 * whichever the folder has (kernel.org, admin-guide/cgroup-v2 and scheduler/sched-bwc). A folder is
 * reached component by component below the root, and no link is followed on the way, so that no name
 * leads out of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator/configuration.h"
#include "actuator/target.h"

enum { QUOTA_MIN_US = 1000 }; /* less is refused by the kernel */

struct cgroup {
    const char *root;
    int64_t period_us;
};

/* quota_us: -1 for no limit */
static bool parse(const char *text, int64_t *quota_us, int64_t *period_us)
{
    char *end = NULL;
    const char *behind = text + 3;
    *quota_us = -1;
    if (strncmp(text, "max", 3) != 0) {
        *quota_us = strtoll(text, &end, 10);
        behind = end;
        if (end == text || *quota_us < QUOTA_MIN_US)
            return false;
    }
    if (*behind != ' ')
        return false;
    *period_us = strtoll(behind + 1, &end, 10);
    return end != behind + 1 && *end == '\0' && *period_us > 0;
}

static enum target_outcome failed(const char *place, const char *what, struct failure *failure)
{
    /* ENODEV: the folder was removed while its file was open */
    bool gone = errno == ENOENT || errno == ENODEV;
    bool link = errno == ELOOP || errno == ENOTDIR;
    (void)fail(failure, EXIT_FAILED, "%s: %s: %s", place, what,
               link ? "it is, or leads through, a link or something that is no folder"
                    : strerror(errno));
    return gone ? TARGET_GONE : link ? TARGET_REFUSED : TARGET_FAILED;
}

/* --- folders --- */

static enum target_outcome
step(const char *place, const char *part, size_t n, int *folder, struct failure *failure)
{
    char name[256];
    if (!target_is_component(part, n)) {
        (void)fail(failure, EXIT_FAILED, "%s would lead out of the root, and is not applied",
                   place);
        return TARGET_REFUSED;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)n, part);
    int next = openat(*folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    enum target_outcome outcome =
        next < 0 ? failed(place, "there is no cgroup", failure) : TARGET_DONE;
    (void)close(*folder);
    *folder = next;
    return outcome;
}

static enum target_outcome
open_folder(const struct cgroup *cgroup, const char *place, int *folder, struct failure *failure)
{
    const char *part = place;
    enum target_outcome outcome = TARGET_DONE;
    *folder = open(cgroup->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0)
        return failed(cgroup->root, "the root cannot be opened", failure);
    for (bool more = true; more && outcome == TARGET_DONE;) {
        size_t n = strcspn(part, "/");
        outcome = step(place, part, n, folder, failure);
        more = part[n] == '/';
        part += n + more;
    }
    return outcome;
}

/* --- files, which are opened without waiting: a pipe in their place must not hold up the others --- */

static bool read_line(int folder, const char *file, char *text, size_t room)
{
    int fd = openat(folder, file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, room - 1);
    int why = errno;
    (void)close(fd);
    errno = why;
    if (got < 0)
        return false;
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return true;
}

static bool write_line(int folder, const char *file, const char *text)
{
    int fd = openat(folder, file, O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    char line[QUOTA_TEXT + 1];
    int n = snprintf(line, sizeof line, "%s\n", text);
    bool good = write(fd, line, (size_t)n) == n;
    int why = errno;
    good = close(fd) == 0 && good;
    errno = why;
    return good;
}

static bool is_version_1(int folder)
{
    return faccessat(folder, "cpu.max", F_OK, AT_SYMLINK_NOFOLLOW) != 0 &&
           faccessat(folder, "cpu.cfs_quota_us", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool read_version_1(int folder, char text[QUOTA_TEXT])
{
    char quota[32];
    char period[32];
    if (!read_line(folder, "cpu.cfs_quota_us", quota, sizeof quota) ||
        !read_line(folder, "cpu.cfs_period_us", period, sizeof period))
        return false;
    (void)snprintf(text, QUOTA_TEXT, "%s %s", quota[0] == '-' ? "max" : quota, period);
    return true;
}

static enum target_outcome
cgroup_read(void *context, const char *place, char text[QUOTA_TEXT], struct failure *failure)
{
    int folder = -1;
    enum target_outcome outcome = open_folder(context, place, &folder, failure);
    if (outcome == TARGET_DONE &&
        !(is_version_1(folder) ? read_version_1(folder, text)
                               : read_line(folder, "cpu.max", text, QUOTA_TEXT)))
        outcome = failed(place, "its quota cannot be read", failure);
    if (folder >= 0)
        (void)close(folder);
    return outcome;
}

/* Two files, and the kernel checks their ratio after each: in this order it never exceeds both the old
 * and the new one. */
static bool write_version_1(int folder, int64_t quota_us, int64_t period_us)
{
    char quota[32];
    char period[32];
    char old[32] = "";
    (void)snprintf(quota, sizeof quota, "%" PRId64, quota_us);
    (void)snprintf(period, sizeof period, "%" PRId64, period_us);
    if (!read_line(folder, "cpu.cfs_period_us", old, sizeof old))
        return false;
    if (strcmp(old, period) == 0)
        return write_line(folder, "cpu.cfs_quota_us", quota);
    if (strtoll(old, NULL, 10) < period_us)
        return write_line(folder, "cpu.cfs_period_us", period) &&
               write_line(folder, "cpu.cfs_quota_us", quota);
    return write_line(folder, "cpu.cfs_quota_us", quota) &&
           write_line(folder, "cpu.cfs_period_us", period);
}

static enum target_outcome
cgroup_write(void *context, const char *place, const char *text, struct failure *failure)
{
    int folder = -1;
    int64_t quota_us;
    int64_t period_us;
    if (!parse(text, &quota_us, &period_us)) {
        (void)fail(failure, EXIT_FAILED, "%s: '%.60s' is no quota", place, text);
        return TARGET_REFUSED;
    }
    enum target_outcome outcome = open_folder(context, place, &folder, failure);
    if (outcome == TARGET_DONE &&
        !(is_version_1(folder) ? write_version_1(folder, quota_us, period_us)
                               : write_line(folder, "cpu.max", text)))
        outcome = failed(place, "its quota cannot be written", failure);
    if (folder >= 0)
        (void)close(folder);
    return outcome;
}

static void
cgroup_format(const void *context, double cores, const char *cpu_max, char text[QUOTA_TEXT])
{
    const struct cgroup *cgroup = context;
    int64_t quota_us;
    int64_t period_us;
    if (cpu_max != NULL && parse(cpu_max, &quota_us, &period_us)) {
        (void)snprintf(text, QUOTA_TEXT, "%" PRId64 " %" PRId64, quota_us, period_us);
        return;
    }
    double quota = fmax(QUOTA_MIN_US, floor(cores * (double)cgroup->period_us + 0.5));
    (void)snprintf(text, QUOTA_TEXT, "%.0f %" PRId64, quota, cgroup->period_us);
}

static double cgroup_cores(const char *text)
{
    int64_t quota_us;
    int64_t period_us;
    if (!parse(text, &quota_us, &period_us))
        return (double)NAN;
    return quota_us < 0 ? (double)INFINITY : (double)quota_us / (double)period_us;
}

bool cgroup_open(const struct configuration *configuration,
                 struct target *target,
                 struct failure *failure)
{
    int root = open(configuration->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return fail(failure, EXIT_FAILED, "cgroup.root %s cannot be opened: %s",
                    configuration->root, strerror(errno));
    (void)close(root);
    struct cgroup *cgroup = malloc(sizeof *cgroup);
    if (cgroup == NULL)
        return fail_memory(failure);
    *cgroup = (struct cgroup){configuration->root, configuration->period_us};
    *target = (struct target){.context = cgroup,
                              .reads_are_cheap = true,
                              .read = cgroup_read,
                              .write = cgroup_write,
                              .format = cgroup_format,
                              .cores = cgroup_cores,
                              .close = free};
    return true;
}
