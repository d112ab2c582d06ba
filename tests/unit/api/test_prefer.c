#include "api/shared/prefer.h"

#include <criterion/criterion.h>

static int64_t waits(const char *first, const char *second)
{
    struct http_header headers[] = {{"Accept", "*/*"}, {"prefer", first}, {"Prefer", second}};
    const struct http_request request = {.headers = headers, .n_headers = second == NULL ? 2 : 3};
    return prefer_wait_s(&request, 20);
}

TestSuite(prefer, .timeout = 5);

/* RFC 7240, section 2: preferences behind commas, parameters behind semicolons, values as tokens or
 * quoted strings, blanks anywhere, case of names no matter. */
Test(prefer, finds_the_wait_among_other_preferences)
{
    cr_assert_eq(waits("wait=5", NULL), 5);
    cr_assert_eq(waits("respond-async, WAIT = \"7\"", NULL), 7);
    cr_assert_eq(waits("foo=\"a, wait=9\"; bar, wait=3; x=y", NULL), 3);
    cr_assert_eq(waits("foo=\"a\\\", wait=9\",wait=4", NULL), 4);
    cr_assert_eq(waits("handling=lenient", "wait=6"), 6);
    cr_assert_eq(waits("wait=1", "wait=6"), 1, "the first counts");
}

Test(prefer, holds_no_longer_than_it_may)
{
    cr_assert_eq(waits("wait=21", NULL), 20);
    cr_assert_eq(waits("wait=99999999999999999999999", NULL), 20);
}

Test(prefer, takes_nonsense_for_nothing)
{
    static const char *const texts[] = {
        "",         "wait",    "wait=",  "wait=x", "wait=-1", "wait=1.5", "wait=1 2", "waiter=3",
        "wait=\"3", "await=3", "foo=\"", ",,;,",   "\"",      "wait\t",   "wait=\"\""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert_eq(waits(texts[i], NULL), 0, "%s", texts[i]);
}
