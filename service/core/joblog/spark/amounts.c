/* What tasks moved and used. */
#include "core/joblog/spark/sparklog_internal.h"

const struct amounts amounts_unknown = {
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}};
_Static_assert(AMOUNT_COUNT == 16, "amounts_unknown has as many members");

void sparklog_raise(struct sparklog *log, int64_t *peak, int64_t bytes)
{
    if (bytes > *peak && bytes > 0)
        *peak = bytes;
    log->notices[NOTICE_BAD_AMOUNT] += bytes < -1;
}

void sparklog_add_amounts(struct sparklog *log,
                          struct amounts *to,
                          const struct amounts *of,
                          bool succeeded)
{
    for (size_t i = AMOUNT_SUMS; i < AMOUNT_COUNT; i++)
        sparklog_raise(log, &to->of[i], of->of[i]);
    for (size_t i = 0; succeeded && i < AMOUNT_SUMS; i++) {
        int64_t amount = of->of[i];
        if (amount >= 0)
            to->of[i] = to->of[i] < 0 ? amount : sparklog_add(to->of[i], amount);
        else
            log->notices[NOTICE_BAD_AMOUNT] += amount != -1;
    }
}
