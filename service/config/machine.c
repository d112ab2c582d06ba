#include "config/machine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/order.h"

enum { PATH_BYTES = 4096, FILE_BYTES = PATH_BYTES + 512 };

/* Where a version's groups are found, and the file that has the limit of one. */
struct hierarchy {
    const char *mount;
    const char *file;
};

static const struct hierarchy unified = {"/sys/fs/cgroup", "memory.max"};
static const struct hierarchy of_memory = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"};

/* The limit in a file of a control group; INT64_MAX: none, or no such file. */
static int64_t read_limit(const char *path)
{
    char text[32];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return INT64_MAX;
    bool read = fgets(text, sizeof text, file) != NULL;
    (void)fclose(file);
    char *end = text;
    errno = 0;
    long long limit = read ? strtoll(text, &end, 10) : 0;
    return end != text && errno == 0 && limit > 0 ? limit : INT64_MAX; /* "max" */
}

/* The least limit of the group and of those around it; its name is cut on the way up. */
static int64_t least_limit(const char *root, const struct hierarchy *in, char *group)
{
    int64_t least = INT64_MAX;
    for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
        char path[FILE_BYTES];
        *end = '\0';
        int n = snprintf(path, sizeof path, "%s%s%s/%s", root, in->mount, group, in->file);
        if (n > 0 && (size_t)n < sizeof path)
            least = smaller_int64(least, read_limit(path));
    }
    return least;
}

static bool names_memory(const char *controllers)
{
    static const char name[] = "memory";
    for (const char *at = controllers; *at != '\0'; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        if (n == sizeof name - 1 && memcmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* "0::/group" of version 2, "7:cpu,memory:/group" of version 1. */
static int64_t limit_by_line(const char *root, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL)
        return INT64_MAX;
    *group++ = '\0';
    controllers++;
    if (*controllers == '\0')
        return least_limit(root, &unified, group);
    return names_memory(controllers) ? least_limit(root, &of_memory, group) : INT64_MAX;
}

static int64_t limit_of_groups(const char *root)
{
    char path[FILE_BYTES];
    char line[PATH_BYTES];
    /* Where the list of groups cannot be read: what is mounted, as in a container. */
    char whole[2][1] = {"", ""};
    int64_t least = smaller_int64(least_limit(root, &unified, whole[0]),
                                  least_limit(root, &of_memory, whole[1]));
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *groups = fopen(path, "re");
    while (groups != NULL && fgets(line, sizeof line, groups) != NULL)
        least = smaller_int64(least, limit_by_line(root, line));
    if (groups != NULL)
        (void)fclose(groups);
    return least;
}

int64_t machine_memory_bytes(const char *root)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    int64_t all = pages > 0 && page > 0 ? (int64_t)pages * page : INT64_MAX;
    return smaller_int64(all, limit_of_groups(root));
}
