/*
 * Loaded before the C library (LD_PRELOAD): the thread "sweeper" is woken late, as on a machine whose
 * processors have other work.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static int is_sweeper(void)
{
    char name[16] = "";
    return prctl(PR_GET_NAME, name) == 0 && strcmp(name, "sweeper") == 0;
}

/* By the clock of all conditions that have a time here (threads/cond.h). */
int pthread_cond_timedwait(pthread_cond_t *restrict cond,
                           pthread_mutex_t *restrict lock,
                           const struct timespec *restrict until)
{
    const struct timespec pause = {.tv_nsec = 500000000L};
    int result = pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, until);
    if (is_sweeper()) {
        (void)pthread_mutex_unlock(lock);
        (void)nanosleep(&pause, NULL);
        (void)pthread_mutex_lock(lock);
    }
    return result;
}
