#include "threads/clock.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/uuid.h"

Test(clock, wall_is_in_this_century)
{
    int64_t now = clock_wall_us();
    cr_assert_gt(now, INT64_C(1700000000000000));
    cr_assert_lt(now, INT64_C(4102444800000000));
}

Test(clock, monotonic_never_goes_back)
{
    uint64_t last = clock_monotonic_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_monotonic_ns();
        cr_assert_geq(now, last);
        last = now;
    }
}

Test(clock, ids_are_version_7_and_differ)
{
    char a[37];
    char b[37];
    char parsed[37];
    clock_uuid7(a);
    clock_uuid7(b);
    cr_assert(uuid_parse(a, parsed), "%s", a);
    cr_assert_eq(a[14], '7');
    cr_assert_neq(strcmp(a, b), 0);
}
