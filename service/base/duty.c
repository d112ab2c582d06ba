#include "base/duty.h"

#include <stdatomic.h>

/* The model of programs that are linked as one: it calls no function, which base may not need. */
static _Thread_local enum duty own __attribute__((tls_model("initial-exec")));
static _Thread_local uint64_t own_faults __attribute__((tls_model("initial-exec")));
static _Thread_local void (*own_pause)(void) __attribute__((tls_model("initial-exec")));
static _Atomic size_t light = SIZE_MAX;
static _Atomic uint64_t faults[DUTY_FAULT_COUNT];

void duty_set(enum duty duty)
{
    own = duty;
}

void duty_set_light(size_t n)
{
    atomic_store(&light, n);
}

void duty_set_pause(void (*pause)(void))
{
    own_pause = pause;
}

void duty_works_on(void)
{
    if (own_pause != NULL)
        own_pause();
}

static void count_fault(enum duty_fault fault)
{
    own_faults++;
    (void)atomic_fetch_add(&faults[fault], 1);
}

void duty_waits(void)
{
    if (own == DUTY_COMPUTE)
        count_fault(DUTY_FAULT_WAIT);
}

void duty_parses(size_t n)
{
    if (own == DUTY_WAIT && n > atomic_load_explicit(&light, memory_order_relaxed))
        count_fault(DUTY_FAULT_PARSE);
}

uint64_t duty_own_faults(void)
{
    return own_faults;
}

uint64_t duty_faults(enum duty_fault fault)
{
    return atomic_load(&faults[fault]);
}
