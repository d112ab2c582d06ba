#include "http/rate.h"

#include <criterion/criterion.h>

static const uint64_t second_ns = 1000000000u;

static unsigned take_all(struct http_rate *rate, uint64_t now_ns)
{
    unsigned n = 0;
    while (n < 1000 && http_rate_take(rate, now_ns))
        n++;
    return n;
}

/* A second's worth at once, then what time brings, and never more than a second's worth. */
Test(rate, takes_so_many_a_second, .timeout = 5)
{
    struct http_rate rate;
    http_rate_init(&rate, 10);
    cr_assert_eq(take_all(&rate, 5 * second_ns), 10);
    cr_assert_eq(take_all(&rate, 5 * second_ns + second_ns / 2), 5);
    cr_assert_eq(take_all(&rate, 5 * second_ns + second_ns / 2), 0);
    cr_assert_eq(take_all(&rate, 100 * second_ns), 10);
}

Test(rate, zero_is_no_bound, .timeout = 5)
{
    struct http_rate rate;
    http_rate_init(&rate, 0);
    cr_assert_eq(take_all(&rate, second_ns), 1000);
}

Test(rate, the_most_there_may_be, .timeout = 5)
{
    struct http_rate rate;
    http_rate_init(&rate, 1000000);
    cr_assert_eq(take_all(&rate, second_ns), 1000);
}
