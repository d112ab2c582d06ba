#include "base/duty.h"

#include <criterion/criterion.h>

static uint64_t waits(void)
{
    return duty_faults(DUTY_FAULT_WAIT);
}

static uint64_t parses(void)
{
    return duty_faults(DUTY_FAULT_PARSE);
}

Test(duty, a_thread_of_its_own_may_do_both)
{
    duty_set_light(10);
    duty_waits();
    duty_parses(11);
    cr_assert(waits() == 0 && parses() == 0);
}

Test(duty, who_computes_may_not_wait)
{
    duty_set_light(10);
    duty_set(DUTY_COMPUTE);
    duty_parses(11);
    cr_assert(waits() == 0 && parses() == 0);
    duty_waits();
    duty_waits();
    cr_assert(waits() == 2 && parses() == 0);
}

Test(duty, who_waits_may_parse_what_is_light)
{
    duty_set(DUTY_WAIT);
    duty_parses(SIZE_MAX); /* there is no bound yet */
    duty_set_light(10);
    duty_waits();
    duty_parses(10);
    cr_assert(waits() == 0 && parses() == 0);
    duty_parses(11);
    cr_assert(waits() == 0 && parses() == 1);
}

static size_t pauses;

static void count_pause(void)
{
    pauses++;
}

Test(duty, who_works_for_long_pauses_as_it_was_told)
{
    duty_works_on();
    duty_set_pause(count_pause);
    duty_works_on();
    cr_assert_eq(pauses, 1);
    duty_set_pause(NULL);
    duty_works_on();
    cr_assert_eq(pauses, 1);
}
