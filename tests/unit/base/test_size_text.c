#include <criterion/criterion.h>

#include "base/size_text.h"

static const char *bytes(double n)
{
    static char text[SIZE_TEXT_MAX];
    size_text_bytes(n, text);
    return text;
}

static const char *problem(double size, const char *measure)
{
    static char text[SIZE_TEXT_MAX];
    size_text_problem(size, measure, text);
    return text;
}

Test(size_text, bytes_are_counted_by_1024)
{
    cr_assert_str_eq(bytes(0), "0 B");
    cr_assert_str_eq(bytes(1), "1 B");
    cr_assert_str_eq(bytes(1023), "1023 B");
    cr_assert_str_eq(bytes(1024), "1.0 KiB");
    cr_assert_str_eq(bytes(2053), "2.0 KiB");
    cr_assert_str_eq(bytes(1024.0 * 1023.4), "1023 KiB");
    cr_assert_str_eq(bytes(1024.0 * 1023.6), "1.0 MiB");
    cr_assert_str_eq(bytes(100e6), "95.4 MiB");
    cr_assert_str_eq(bytes(99.96 * 1073741824), "100 GiB");
    cr_assert_str_eq(bytes(25.0 * 1073741824), "25.0 GiB");
    cr_assert_str_eq(bytes(-3.0 * 1048576), "-3.0 MiB");
    cr_assert_str_eq(bytes(1099511627776.0), "1.0 TiB");
    cr_assert_str_eq(bytes(4096.0 * 1125899906842624.0), "4096 PiB");
}

Test(size_text, problem_sizes_have_the_unit_of_their_measure)
{
    cr_assert_str_eq(problem(404, "input_blocks"), "50.5 GiB in 404 blocks");
    cr_assert_str_eq(problem(394.9321, "input_blocks"), "49.4 GiB in 394.9 blocks");
    cr_assert_str_eq(problem(1, "input_blocks"), "128 MiB in 1 block");
    cr_assert_str_eq(problem(0.5, "input_blocks"), "64.0 MiB in 0.5 blocks");
    cr_assert_str_eq(problem(1e12, "input_blocks"), "119209 PiB in 1000000000000 blocks");
    cr_assert_str_eq(problem(1, "first_parallel_stage"), "1 task");
    cr_assert_str_eq(problem(4, "first_parallel_stage"), "4 tasks");
    cr_assert_str_eq(problem(4, "first_stage"), "4 tasks");
    cr_assert_str_eq(problem(12345678, "input_records"), "12345678 records");
    cr_assert_str_eq(problem(12.5, "label"), "12.5");
    cr_assert_str_eq(problem(64, NULL), "64");
    cr_assert_str_eq(problem(1e-9, NULL), "1e-09");
    cr_assert_str_eq(problem(123456, NULL), "123456");
}
