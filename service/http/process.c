#include "http/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static unsigned long long resident_bytes(void)
{
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (n <= 0)
        return 0;
    /* The second number counts resident pages. */
    const char *second = strchr(text, ' ');
    long page = sysconf(_SC_PAGESIZE);
    return second == NULL || page <= 0 ? 0 : strtoull(second, NULL, 10) * (unsigned long long)page;
}

unsigned long long process_count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    if (dir == NULL)
        return 0;
    unsigned long long n = 0;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        n += entry->d_name[0] != '.';
    (void)closedir(dir);
    return n > 0 ? n - 1 : 0; /* the directory itself was one of them */
}

static double process_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

void process_usage_read(struct process_usage *usage)
{
    *usage = (struct process_usage){.resident_bytes = resident_bytes()};
    struct rusage self;
    if (getrusage(RUSAGE_SELF, &self) == 0)
        usage->cpu_s = process_seconds(self.ru_utime) + process_seconds(self.ru_stime);
    struct rlimit fds;
    if (getrlimit(RLIMIT_NOFILE, &fds) == 0)
        usage->max_fds = fds.rlim_cur;
}
