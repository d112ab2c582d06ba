#include "cli/commands/file_body.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_bytes(void *context, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    const struct file_body *opened = context;
    ssize_t count;
    do
        count = read(opened->file, bytes, n);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return fail(failure, EXIT_FAILED, "%s cannot be read: %s", opened->name, strerror(errno));
    *got = (size_t)count;
    return true;
}

static bool rewind_file(void *context, struct failure *failure)
{
    const struct file_body *opened = context;
    return lseek(opened->file, 0, SEEK_SET) == 0 ||
           fail(failure, EXIT_FAILED, "%s cannot be read again: %s", opened->name, strerror(errno));
}

bool file_body_open(struct invocation *invocation, const char *file, struct file_body *opened)
{
    struct stat about;
    bool standard = strcmp(file, "-") == 0;
    opened->name = standard ? "standard input" : file;
    opened->file = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    if (opened->file < 0 || fstat(opened->file, &about) != 0)
        return fail(&invocation->failure, EXIT_USAGE, "%s cannot be read: %s", opened->name,
                    strerror(errno));
    if (S_ISDIR(about.st_mode))
        return fail(&invocation->failure, EXIT_USAGE, "%s is a folder", opened->name);
    bool regular = S_ISREG(about.st_mode) && lseek(opened->file, 0, SEEK_CUR) == 0;
    opened->body = (struct remote_body){.read = read_bytes,
                                        .rewind = regular ? rewind_file : NULL,
                                        .context = opened,
                                        .bytes = regular ? (int64_t)about.st_size : -1};
    return true;
}

void file_body_close(struct file_body *opened)
{
    if (opened->file > STDIN_FILENO)
        (void)close(opened->file);
}
