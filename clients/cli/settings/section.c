/* realpath */
#define _XOPEN_SOURCE 700
#include "cli/settings/section.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 1 << 20, LINE_BYTES_MAX = 8192 };

static bool make_folders(const char *file, struct failure *failure)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", file);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return fail(failure, EXIT_FAILED, "%s cannot be made: %s", path, strerror(errno));
        *slash = '/';
    }
    return true;
}

/* "[name]" of a line, or false. */
static bool is_section(const char *line, const char **name, size_t *n)
{
    line += strspn(line, " \t");
    if (*line != '[')
        return false;
    *name = line + 1;
    *n = strcspn(*name, "]\r\n");
    return true;
}

static const struct section_key *
find_key(const char *line, const struct section_key keys[], size_t n)
{
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t=:\r\n");
    for (size_t i = 0; i < n; i++)
        if (strlen(keys[i].key) == length && strncmp(keys[i].key, line, length) == 0)
            return &keys[i];
    return NULL;
}

static void write_keys(FILE *out, const struct section_key keys[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (keys[i].value != NULL)
            fprintf(out, "%s = %s\n", keys[i].key, keys[i].value);
}

/* The old lines with the keys set: behind the heading of their section, which is added at the end
 * where it is not there. */
static void
rewrite(FILE *in, FILE *out, const char *section, const struct section_key keys[], size_t n)
{
    char line[LINE_BYTES_MAX];
    bool inside = false;
    bool written = false;
    bool ended = true;
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        const char *name;
        size_t length;
        if (is_section(line, &name, &length))
            inside = strlen(section) == length && strncmp(section, name, length) == 0;
        else if (inside && find_key(line, keys, n) != NULL)
            continue;
        fputs(line, out);
        size_t length_of_line = strlen(line);
        ended = length_of_line > 0 && line[length_of_line - 1] == '\n';
        if (inside && !written) {
            if (!ended)
                fputc('\n', out);
            write_keys(out, keys, n);
            written = ended = true;
        }
    }
    if (written)
        return;
    fprintf(out, "%s%s[%s]\n", ended ? "" : "\n", in == NULL ? "" : "\n", section);
    write_keys(out, keys, n);
}

static bool write_beside(const char *file,
                         const char *beside,
                         unsigned mode,
                         const char *section,
                         const struct section_key keys[],
                         size_t n)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (out == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    FILE *in = fopen(file, "re");
    rewrite(in, out, section, keys, n);
    if (in != NULL)
        (void)fclose(in);
    bool good = fflush(out) == 0 && ferror(out) == 0 && fsync(fd) == 0;
    int why = errno;
    (void)fclose(out);
    errno = why;
    return good;
}

int section_lock(const char *file, struct failure *failure)
{
    char folder[PATH_MAX];
    if (!make_folders(file, failure))
        return -1;
    (void)snprintf(folder, sizeof folder, "%s", file);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0';
    int fd = open(slash == NULL ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX) == 0)
        return fd;
    (void)fail(failure, EXIT_FAILED, "%s cannot be locked: %s", folder, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

bool section_set(const char *file,
                 unsigned mode,
                 const char *section,
                 const struct section_key keys[],
                 size_t n,
                 struct failure *failure)
{
    char beside[PATH_MAX + 24];
    char behind[PATH_MAX];
    if (!make_folders(file, failure))
        return false;
    /* A link stays one: what it leads to is written. */
    if (realpath(file, behind) != NULL)
        file = behind;
    (void)snprintf(beside, sizeof beside, "%s.new-%ld", file, (long)getpid());
    (void)unlink(beside);
    if (!write_beside(file, beside, mode, section, keys, n) || rename(beside, file) != 0) {
        int why = errno;
        (void)unlink(beside);
        return fail(failure, EXIT_FAILED, "%s cannot be written: %s", file, strerror(why));
    }
    return true;
}
