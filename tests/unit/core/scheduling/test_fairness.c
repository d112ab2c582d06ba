#include "core/scheduling/comparison/fairness.h"

#include <criterion/criterion.h>

static double index_of(const double values[], size_t n)
{
    struct fairness fairness = {.n = 0};
    for (size_t i = 0; i < n; i++)
        fairness_add(&fairness, values[i]);
    return fairness_index(&fairness);
}

Test(fairness, is_one_for_equal_jobs_and_a_part_for_one_that_has_all)
{
    cr_expect_eq(index_of((const double[]){3, 3, 3}, 3), 1);
    cr_expect_eq(index_of((const double[]){0, 5, 0, 0}, 4), 0.25);
    cr_expect_eq(index_of((const double[]){1, 3}, 2), 0.8);
}

Test(fairness, is_one_where_nobody_has_anything)
{
    cr_expect_eq(index_of((const double[]){0, 0}, 2), 1);
    cr_expect_eq(index_of(NULL, 0), 1);
}

/* Section 3.3.2.1 of the dissertation: three jobs in the same time on 11, 7 and 10 slots. */
Test(fairness, of_the_example_of_the_paper)
{
    cr_expect_float_eq(index_of((const double[]){11.0 / 5, 7.0 / 5, 10.0 / 5}, 3), 784.0 / 810,
                       1e-12);
}
