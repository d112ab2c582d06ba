#include "base/order.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

Test(order, doubles)
{
    double values[] = {3, -INFINITY, 0.1 + 0.2, 0.3, INFINITY, -2};
    qsort(values, 6, sizeof *values, order_by_double);
    double sorted[] = {-INFINITY, -2, 0.3, 0.1 + 0.2, 3, INFINITY};
    for (size_t i = 0; i < 6; i++)
        cr_assert(values[i] == sorted[i]);
    cr_assert_eq(compare_double(1, 1), 0);
}

/* Values whose difference does not fit into an int. */
Test(order, integers)
{
    size_t sizes[] = {SIZE_MAX, 0, 7};
    qsort(sizes, 3, sizeof *sizes, order_by_size);
    cr_assert(sizes[0] == 0 && sizes[1] == 7 && sizes[2] == SIZE_MAX);
    int64_t numbers[] = {INT64_MAX, 0, INT64_MIN, -1};
    qsort(numbers, 4, sizeof *numbers, order_by_int64);
    cr_assert(numbers[0] == INT64_MIN && numbers[1] == -1 && numbers[2] == 0);
}

/* By bytes, which may be 0 or above 127; a text goes before those that it begins. */
Test(order, texts)
{
    struct strview texts[] = {{"ab", 2}, {"\xc3\xa4", 2}, {"a\0b", 3},
                              {"a", 1},  {NULL, 0},       {"b", 1}};
    qsort(texts, 6, sizeof *texts, order_by_strview);
    struct strview sorted[] = {{NULL, 0}, {"a", 1}, {"a\0b", 3},
                               {"ab", 2}, {"b", 1}, {"\xc3\xa4", 2}};
    for (size_t i = 0; i < 6; i++)
        cr_assert(strview_equal(texts[i], sorted[i]));
}
