#include "threads/cond.h"

#include <criterion/criterion.h>
#include <time.h>

#include "threads/clock.h"

#define MS UINT64_C(1000000)

Test(cond, a_wait_ends_at_its_deadline, .timeout = 20)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;
    cr_assert(cond_init(&cond));
    uint64_t until = clock_monotonic_ns() + 30 * MS;
    (void)pthread_mutex_lock(&lock);
    while (cond_wait_until(&cond, &lock, until))
        ;
    (void)pthread_mutex_unlock(&lock);
    cr_assert_geq(clock_monotonic_ns(), until);
    (void)pthread_cond_destroy(&cond);
}

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool open;
};

static void *open_it(void *argument)
{
    struct meeting *meeting = argument;
    (void)pthread_mutex_lock(&meeting->lock);
    meeting->open = true;
    (void)pthread_cond_signal(&meeting->cond);
    (void)pthread_mutex_unlock(&meeting->lock);
    return NULL;
}

Test(cond, a_signal_ends_a_wait_before_its_deadline, .timeout = 20)
{
    struct meeting meeting = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
    cr_assert(cond_init(&meeting.cond));
    uint64_t until = clock_monotonic_ns() + 15000 * MS;
    (void)pthread_mutex_lock(&meeting.lock);
    cr_assert_eq(pthread_create(&thread, NULL, open_it, &meeting), 0);
    while (!meeting.open)
        cr_assert(cond_wait_until(&meeting.cond, &meeting.lock, until));
    (void)pthread_mutex_unlock(&meeting.lock);
    cr_assert(thread_join_until(thread, until));
    (void)pthread_cond_destroy(&meeting.cond);
}

static void *wait_until_open(void *argument)
{
    struct meeting *meeting = argument;
    (void)pthread_mutex_lock(&meeting->lock);
    while (!meeting->open)
        (void)pthread_cond_wait(&meeting->cond, &meeting->lock);
    (void)pthread_mutex_unlock(&meeting->lock);
    return NULL;
}

Test(cond, a_thread_that_goes_on_is_not_joined, .timeout = 20)
{
    struct meeting meeting = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
    cr_assert(cond_init(&meeting.cond));
    cr_assert_eq(pthread_create(&thread, NULL, wait_until_open, &meeting), 0);
    uint64_t until = clock_monotonic_ns() + 30 * MS;
    cr_assert_not(thread_join_until(thread, until));
    cr_assert_geq(clock_monotonic_ns(), until);
    (void)open_it(&meeting);
    cr_assert(thread_join_until(thread, clock_monotonic_ns() + 15000 * MS));
    (void)pthread_cond_destroy(&meeting.cond);
}
