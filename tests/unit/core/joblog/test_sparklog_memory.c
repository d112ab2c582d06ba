/*
 * Running out of memory is an ordinary error: the k-th allocation fails, for k = 1, 2, ... until
 * the whole log is read. Under AddressSanitizer this also shows that nothing is lost on the way.
 * The allocator is replaced at link time (--wrap), for this program only.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "sparklog_cases.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t n);

static long allowed = -1; /* allocations before one fails; negative: none fails */

static bool fails(void)
{
    if (allowed < 0)
        return false;
    return allowed-- == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *at, size_t n)
{
    return fails() ? NULL : __real_realloc(at, n);
}

static const char log_text[] =
    LOG_START APP_START(1000) EXECUTOR("1", 1001, 4) SUBMITTED(0, 0, 2, 1100)
        TASK(0, 0, "Success", 1100, 1200, "") TASK(0, 1, "Success", 1100, 1300, "")
            COMPLETED(0, 0, 2, 1100, 1300, ",\"Stage Name\":\"map\"")
                COMPLETED(1, 0, 1, 1300, 1400, ",\"Parent IDs\":[0]") APP_END(1500);

Test(sparklog_memory, every_allocation_may_fail)
{
    long k = 0;
    enum pv_code code;
    do {
        struct reading r;
        allowed = k++;
        /* Small pieces, so that lines are gathered in memory. */
        reading_init(&r, log_text, 33, &case_limits);
        allowed = -1;
        code = r.code;
        cr_assert(code == PV_OK || code == PV_E_MEMORY, "allocation %ld: %s", k,
                  pv_code_name(code));
        reading_fini(&r);
    } while (code != PV_OK && k < 1000);
    cr_assert_eq(code, PV_OK);
    cr_assert_gt(k, 8, "the log takes several allocations");
}
