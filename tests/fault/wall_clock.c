/*
 * Preloaded into provisord (test_clock_step.py): while the file that PROVISOR_TEST_AHEAD names
 * exists, the wall clock shows one hour too much, or too little if there is anything in the file;
 * as long as it is missing, the truth.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, now);
    const char *file = getenv("PROVISOR_TEST_AHEAD");
    struct stat seen;
    if (rc == 0 && clock == CLOCK_REALTIME && file != NULL && stat(file, &seen) == 0)
        now->tv_sec += seen.st_size == 0 ? 3600 : -3600;
    return rc;
}
