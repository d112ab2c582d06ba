/*
 * Loaded before the C library (LD_PRELOAD): connections are taken slowly, as on a machine under load,
 * so that some still wait in the kernel's queue when the listener is to close.
 */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int accept4(int fd, __SOCKADDR_ARG address, socklen_t *restrict n, int flags)
{
    const struct timespec pause = {.tv_nsec = 2000000L};
    (void)nanosleep(&pause, NULL);
    return (int)syscall(SYS_accept4, fd, address.__sockaddr__, n, flags);
}
