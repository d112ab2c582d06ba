#include "core/scheduling/slots/slots_service.h"

#include <criterion/criterion.h>
#include <math.h>

enum { JOBS = 3 };

static struct arena arena;
static struct slots_service service;
static size_t due[JOBS];

static void prepare(void)
{
    arena_init(&arena, 0);
    cr_assert(slots_service_init(&service, JOBS, &arena));
}

static void finish(void)
{
    arena_fini(&arena);
}

TestSuite(slots_service, .init = prepare, .fini = finish);

Test(slots_service, a_crossing_comes_nearer_with_every_task)
{
    service.limit_s[0] = 12;
    cr_expect_eq(slots_service_next(&service), HUGE_VAL);
    slots_service_work(&service, 0, 0, 1);
    cr_expect_eq(slots_service_next(&service), 12);
    slots_service_work(&service, 0, 4, 3); /* 4 of 12 served */
    cr_expect_eq(slots_service_next(&service), 6);
    slots_service_rest(&service, 0, 5, 2, 4, 1); /* 8 served */
    cr_expect_eq(slots_service_next(&service), 7);
    slots_service_rest(&service, 0, 6, 1, 0, 6); /* 10 served */
    cr_expect_eq(slots_service_next(&service), 8);
    service.limit_s[0] = 10;
    slots_service_predict(&service, 0, 6);
    cr_expect_eq(slots_service_take_due(&service, 6, due), 1);
    cr_expect_eq(slots_service_take_due(&service, 6, due), 0);
}

Test(slots_service, who_has_no_task_at_work_does_not_cross)
{
    service.limit_s[0] = 12;
    slots_service_work(&service, 0, 0, 1);
    slots_service_rest(&service, 0, 5, 1, 0, 5);
    cr_expect_eq(slots_service_next(&service), HUGE_VAL);
    cr_expect_eq(slots_service_take_due(&service, 100, due), 0);
    slots_service_work(&service, 0, 100, 1);
    cr_expect_eq(slots_service_next(&service), 107);
    slots_service_end(&service, 0);
    cr_expect_eq(slots_service_next(&service), HUGE_VAL);
}

/* What tasks that are over have worked are their durations, whatever instants were. */
Test(slots_service, ended_tasks_count_for_their_durations)
{
    service.limit_s[0] = 1 + 1e-6;
    slots_service_work(&service, 0, 1e9, 1);
    slots_service_rest(&service, 0, 1e9 + 0.9999998807907104, 1, 1e9, 1);
    slots_service_work(&service, 0, 2e9, 1);
    cr_expect_eq(slots_service_next(&service), 2e9 + 1e-6);
}

Test(slots_service, a_crossing_close_to_an_instant_belongs_to_it)
{
    service.limit_s[0] = 10 + 0.9e-9;
    service.limit_s[1] = 10 + 3e-8;
    service.limit_s[2] = 9;
    slots_service_work(&service, 0, 0, 1);
    slots_service_work(&service, 1, 0, 1);
    slots_service_work(&service, 2, 0, 1);
    cr_expect_eq(slots_service_next(&service), 9);
    cr_expect_eq(slots_service_take_due(&service, 8.9, due), 0);
    cr_expect_eq(slots_service_take_due(&service, 10, due), 2); /* not the second one */
    cr_expect_eq(due[0] + due[1], 2);
    cr_expect(slots_service_next(&service) > 10);
    cr_expect(slots_service_belongs(1e6 + 1e-4, 1e6));
    cr_expect_not(slots_service_belongs(1e6 + 1e-2, 1e6));
    cr_expect(slots_service_belongs(5e-10, 0));
}

/* 5e-4 after 1e6, which is as good as 1e6; the service that is missing then is too much to pass. */
Test(slots_service, late_instants_have_more_crossings)
{
    service.limit_s[0] = 10;
    slots_service_work(&service, 0, 1e6 + 5e-4 - 10, 1);
    cr_expect_eq(slots_service_take_due(&service, 1e6 - 1e-3, due), 0);
    cr_expect_eq(slots_service_take_due(&service, 1e6, due), 1);
}

/* A limit of 1e6 is reached within 1e-3, which at 1999 is more than instants may be apart. */
Test(slots_service, service_close_to_a_limit_has_reached_it)
{
    service.limit_s[0] = 1e6;
    slots_service_work(&service, 0, 0, 1000);
    slots_service_rest(&service, 0, 999, 999, 0, 999);
    cr_expect_eq(slots_service_next(&service), 1999);
    cr_expect_eq(slots_service_take_due(&service, 1999 - 2e-3, due), 0);
    cr_expect_eq(slots_service_take_due(&service, 1999 - 5e-4, due), 1);
    cr_expect_eq(slots_service_next(&service), HUGE_VAL);
}
