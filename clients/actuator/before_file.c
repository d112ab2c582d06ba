#include "actuator/before_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

bool before_file_lock(const char *file, int *fd, struct failure *failure)
{
    char beside[PATH_MAX];
    (void)snprintf(beside, sizeof beside, "%s.lock", file);
    *fd = open(beside, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0 || flock(*fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return true;
    (void)close(*fd);
    *fd = -1;
    (void)fail_next(failure, "each needs a state_file of its own");
    return fail(failure, EXIT_FAILED, "another provisor-actuate that runs has the state_file %s",
                file);
}

static bool is_sound(const json_t *before)
{
    const char *id;
    json_t *entry;
    if (!json_is_object(before))
        return false;
    json_object_foreach((json_t *)(uintptr_t)before, id, entry)
    {
        if (!json_is_string(json_object_get(entry, "place")) ||
            !json_is_string(json_object_get(entry, "worker")) ||
            !json_is_string(json_object_get(entry, "quota")))
            return false;
    }
    return true;
}

json_t *before_file_read(const char *file, struct failure *failure)
{
    FILE *in = fopen(file, "re");
    if (in == NULL && errno == ENOENT)
        return json_object();
    if (in == NULL) {
        (void)fail(failure, EXIT_FAILED, "%s cannot be read: %s", file, strerror(errno));
        return NULL;
    }
    json_t *before = json_loadf(in, 0, NULL);
    (void)fclose(in);
    if (!is_sound(before)) {
        json_decref(before);
        (void)fail(failure, EXIT_FAILED, "%s is not what this program writes", file);
        (void)fail_next(failure, "without the file, what is there now counts as before");
        return NULL;
    }
    return before;
}

static bool write_all(int fd, const char *text)
{
    size_t n = strlen(text);
    while (n > 0) {
        ssize_t put = write(fd, text, n);
        if (put < 0)
            return false;
        text += put;
        n -= (size_t)put;
    }
    return fsync(fd) == 0;
}

bool before_file_write(const char *file, const json_t *before, struct failure *failure)
{
    char beside[PATH_MAX];
    char *text = json_dumps(before, JSON_INDENT(1));
    if (text == NULL)
        return fail_memory(failure);
    (void)snprintf(beside, sizeof beside, "%s.new", file);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = fd >= 0 && write_all(fd, text);
    if (fd >= 0)
        good = close(fd) == 0 && good;
    free(text);
    if (!good || rename(beside, file) != 0)
        return fail(failure, EXIT_FAILED, "%s cannot be written: %s", file, strerror(errno));
    return true;
}
