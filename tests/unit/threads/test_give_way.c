#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "threads/give_way.h"

#include <criterion/criterion.h>
#include <sys/resource.h>

#include "base/duty.h"
#include "threads/clock.h"

/* How often the thread slept while it used so much time of a processor. */
static long sleeps_in(uint64_t ns, void (*between)(void))
{
    struct rusage before;
    struct rusage after;
    getrusage(RUSAGE_THREAD, &before);
    for (uint64_t until_ns = clock_thread_ns() + ns; clock_thread_ns() < until_ns;)
        between();
    getrusage(RUSAGE_THREAD, &after);
    return after.ru_nvcsw - before.ru_nvcsw;
}

Test(give_way, once_for_every_so_much_time_of_a_processor)
{
    give_way_every(2000000);
    long sleeps = sleeps_in(40000000, give_way);
    cr_assert(sleeps >= 10 && sleeps <= 21, "%ld", sleeps);
}

Test(give_way, what_works_on_for_long_gives_way_too)
{
    give_way_every(2000000);
    cr_assert_geq(sleeps_in(20000000, duty_works_on), 5);
}

Test(give_way, never_unless_it_is_asked_to)
{
    cr_assert_eq(sleeps_in(10000000, give_way), 0);
    give_way_every(2000000);
    give_way_every(0);
    cr_assert_eq(sleeps_in(10000000, duty_works_on), 0);
}

Test(give_way, time_asleep_is_no_time_of_a_processor)
{
    give_way_every(5000000);
    clock_sleep_ms(20);
    cr_assert_eq(sleeps_in(1000000, give_way), 0);
}
