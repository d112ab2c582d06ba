/*
 * Loaded before the C library (LD_PRELOAD): the main thread takes sockets out of epoll sets late,
 * as a machine under load may let it, so that a race for the removal has one outcome.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    const struct timespec pause = {.tv_nsec = 5000000L};
    if (operation == EPOLL_CTL_DEL && getpid() == (pid_t)syscall(SYS_gettid))
        (void)nanosleep(&pause, NULL);
    return (int)syscall(SYS_epoll_ctl, set, operation, fd, event);
}
