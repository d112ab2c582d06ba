#include "core/scheduling/tasks/tasks_promise.h"

#include "base/rounding.h"

#define NOBODY UINT32_MAX

/* left has the lower number. */
static uint32_t winner_of(const struct promises *promises, uint32_t left, uint32_t right)
{
    if (right == NOBODY)
        return left;
    double a = promises->work_s[left];
    double b = promises->work_s[right];
    return b < a && !rounding_equal(a, b) ? right : left;
}

bool promises_init(struct promises *promises, uint32_t n, struct arena *arena)
{
    *promises = (struct promises){.n = n, .leaves = 1};
    /* With one worker its leaf must not be the winner's place. */
    while (promises->leaves < n || promises->leaves < 2)
        promises->leaves *= 2;
    promises->work_s = arena_calloc(arena, n, sizeof *promises->work_s);
    promises->winners = arena_array(arena, 2 * (size_t)promises->leaves, sizeof *promises->winners);
    if (promises->work_s == NULL || promises->winners == NULL)
        return false;
    for (uint32_t i = 0; i < promises->leaves; i++)
        promises->winners[promises->leaves + i] = i < n ? i : NOBODY;
    for (uint32_t i = promises->leaves - 1; i >= 1; i--)
        promises->winners[i] = promises->winners[2 * (size_t)i];
    return true;
}

double promises_memory(uint32_t n)
{
    return (double)n * (sizeof(double) + 4 * sizeof(uint32_t)) + 4 * sizeof(uint32_t);
}

void promises_set(struct promises *promises, uint32_t worker, double work_s)
{
    promises->work_s[worker] = work_s;
    for (uint32_t i = (promises->leaves + worker) / 2; i >= 1; i /= 2)
        promises->winners[i] = winner_of(promises, promises->winners[2 * (size_t)i],
                                         promises->winners[2 * (size_t)i + 1]);
}
