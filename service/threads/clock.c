#include "threads/clock.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

#include "base/uuid.h"

int64_t clock_wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

uint64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t clock_thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void clock_random(uint8_t *bytes, size_t n)
{
    static _Thread_local uint8_t stock[1024];
    static _Thread_local size_t left;
    if (n > sizeof stock) {
        randombytes_buf(bytes, n);
        return;
    }
    if (left < n) {
        randombytes_buf(stock, sizeof stock);
        left = sizeof stock;
    }
    left -= n;
    memcpy(bytes, stock + left, n);
}

void clock_uuid7(char out[37])
{
    uint8_t random[10];
    clock_random(random, sizeof random);
    uuid7_format((uint64_t)(clock_wall_us() / 1000), random, out);
}

void clock_sleep_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    (void)nanosleep(&pause, NULL);
}

void clock_sleep_for_retry(unsigned attempt)
{
    clock_sleep_ms((long)attempt * 5 + (long)randombytes_uniform(10));
}
