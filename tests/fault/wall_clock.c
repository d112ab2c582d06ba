/*
 * Preloaded into provisord (test_clock_step.py): while the file that PROVISOR_TEST_AHEAD names exists,
 * the wall clock shows one hour too much; as long as the file is missing, the truth.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, now);
    const char *file = getenv("PROVISOR_TEST_AHEAD");
    if (rc == 0 && clock == CLOCK_REALTIME && file != NULL && access(file, F_OK) == 0)
        now->tv_sec += 3600;
    return rc;
}
