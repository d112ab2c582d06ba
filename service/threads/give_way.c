#include "threads/give_way.h"

#include <stddef.h>
#include <time.h>

#include "base/duty.h"
#include "threads/clock.h"

static _Thread_local struct {
    uint64_t every_ns;
    uint64_t paused_ns; /* on the thread's own clock */
    uint64_t look_ns;   /* before, that clock need not be read: this takes a system call */
} own;

void give_way_every(uint64_t ns)
{
    own.every_ns = ns;
    own.paused_ns = clock_thread_ns();
    own.look_ns = 0;
    duty_set_pause(ns == 0 ? NULL : give_way);
}

/* The shortest sleep: it lasts some 50 microseconds (PR_SET_TIMERSLACK) where nobody waits. */
void give_way(void)
{
    if (own.every_ns == 0)
        return;
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns < own.look_ns)
        return;
    uint64_t used_ns = clock_thread_ns() - own.paused_ns;
    if (used_ns >= own.every_ns) {
        const struct timespec pause = {.tv_nsec = 1};
        (void)nanosleep(&pause, NULL);
        own.paused_ns += used_ns;
        used_ns = 0;
    }
    own.look_ns = now_ns + own.every_ns - used_ns;
}
