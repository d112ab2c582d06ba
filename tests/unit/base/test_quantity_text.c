#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/quantity_text.h"

#define EXPECT(call, words) cr_expect_str_eq((call).text, words)

Test(quantity_text, durations_have_one_form_for_each_length)
{
    EXPECT(quantity_duration(0), "0 s");
    EXPECT(quantity_duration(0.0004), "0.0004 s");
    EXPECT(quantity_duration(0.35), "0.35 s");
    EXPECT(quantity_duration(75.46), "75.5 s");
    EXPECT(quantity_duration(75), "75 s");
    EXPECT(quantity_duration(90.04), "90 s");
    EXPECT(quantity_duration(90.06), "1 min 30 s");
    EXPECT(quantity_duration(114.8), "1 min 55 s");
    EXPECT(quantity_duration(119.6), "2 min");
    EXPECT(quantity_duration(136.9), "2 min 17 s");
    EXPECT(quantity_duration(3599.4), "59 min 59 s");
    EXPECT(quantity_duration(3599.6), "1 h");
    EXPECT(quantity_duration(3900), "1 h 05 min");
    EXPECT(quantity_duration(7199), "2 h");
    EXPECT(quantity_duration(172740), "47 h 59 min");
    EXPECT(quantity_duration(172799), "2 d");
    EXPECT(quantity_duration(183600), "2 d 3 h");
    EXPECT(quantity_duration(-30), "-30 s");
    EXPECT(quantity_duration(-150), "-2 min 30 s");
    EXPECT(quantity_duration((double)NAN), "unknown");
}

Test(quantity_text, a_deadline_that_would_do_is_rounded_up)
{
    EXPECT(quantity_duration_at_least(26), "26 s");
    EXPECT(quantity_duration_at_least(26.01), "26.1 s");
    EXPECT(quantity_duration_at_least(0.12345), "0.124 s");
    EXPECT(quantity_duration_at_least(114.2), "1 min 55 s");
    EXPECT(quantity_duration_at_least(136.1), "2 min 17 s");
    EXPECT(quantity_duration_at_least(3901), "1 h 06 min");
    EXPECT(quantity_duration_at_least(0), "0 s");
}

Test(quantity_text, what_is_left_is_no_finer_than_what_it_is_left_of)
{
    cr_expect_float_eq(quantity_slack_s(0.362, 98), 0, 1e-9);
    cr_expect_float_eq(quantity_slack_s(5.92, 180), 6, 1e-9);
    cr_expect_float_eq(quantity_slack_s(-0.362, 98), -1, 1e-9);
    cr_expect_float_eq(quantity_slack_s(-11.6, 98), -12, 1e-9);
    cr_expect_float_eq(quantity_slack_s(0.362, 30), 0.4, 1e-9);
    cr_expect_float_eq(quantity_slack_s(125, 7200), 120, 1e-9);
}

Test(quantity_text, intervals_are_written_as_their_ends_are)
{
    EXPECT(quantity_interval(96.1, 136.9), "1 min 36 s to 2 min 17 s");
    EXPECT(quantity_interval(8.52, 12.34), "8.5 to 12.3 s");
    EXPECT(quantity_interval(1.234, 2.5), "1.23 to 2.50 s");
    EXPECT(quantity_interval(0.0123, 0.5), "0.0123 to 0.5 s");
    EXPECT(quantity_interval(95, 263), "1 min 35 s to 4 min 23 s");
    EXPECT(quantity_interval(276, 737), "4 min 36 s to 12 min 17 s");
    EXPECT(quantity_interval(63, 90), "63.0 to 90.0 s");
    EXPECT(quantity_interval(63, 90.2), "1 min 03 s to 1 min 30 s");
    EXPECT(quantity_interval(45, 737), "45 s to 12 min 17 s");
    EXPECT(quantity_interval(3000, 7500), "50 min to 2 h 05 min");
    EXPECT(quantity_interval(96.1, (double)INFINITY), "1 min 36 s or more");
    EXPECT(quantity_interval(96.1, (double)NAN), "1 min 36 s or more");
}

Test(quantity_text, percentages_have_at_most_three_digits)
{
    EXPECT(quantity_percent(0), "0 %");
    EXPECT(quantity_percent(1.605347e-14), "less than 0.1 %");
    EXPECT(quantity_percent(0.06), "0.1 %");
    EXPECT(quantity_percent(0.14), "0.1 %");
    EXPECT(quantity_percent(4.41), "4.4 %");
    EXPECT(quantity_percent(9.96), "10 %");
    EXPECT(quantity_percent(46.44), "46.4 %");
    EXPECT(quantity_percent(95), "95 %");
    EXPECT(quantity_percent(99.96), "100 %");
    EXPECT(quantity_percent(130.4), "130 %");
    EXPECT(quantity_percent(-4.7), "-4.7 %");
    EXPECT(quantity_change(4.71), "+4.7 %");
    EXPECT(quantity_change(-15), "-15 %");
    EXPECT(quantity_change(0), "0 %");
    EXPECT(quantity_share(0.95), "95 %");
    EXPECT(quantity_share(0.057), "5.7 %");
    EXPECT(quantity_share(1), "100 %");
}

Test(quantity_text, no_probability_reads_as_certain_or_as_more_than_it_is)
{
    EXPECT(quantity_probability(0), "less than 0.1 %");
    EXPECT(quantity_probability(9.47e-8), "less than 0.1 %");
    EXPECT(quantity_probability(0.001), "0.1 %");
    EXPECT(quantity_probability(0.95), "95 %");
    EXPECT(quantity_probability(0.9499), "94.9 %");
    EXPECT(quantity_probability(0.9567), "95.6 %");
    EXPECT(quantity_probability(0.999), "99.9 %");
    EXPECT(quantity_probability(0.99901), "more than 99.9 %");
    EXPECT(quantity_probability(1), "more than 99.9 %");
    EXPECT(quantity_probability((double)NAN), "unknown");
}

Test(quantity_text, money_has_its_currency)
{
    EXPECT(quantity_cost(0, "EUR"), "0 EUR");
    EXPECT(quantity_cost(0.05246, "EUR"), "0.0525 EUR");
    EXPECT(quantity_cost(0.5, "EUR"), "0.50 EUR");
    EXPECT(quantity_cost(1.5, "EUR"), "1.50 EUR");
    EXPECT(quantity_cost(123.456, "USD"), "123.46 USD");
    EXPECT(quantity_cost(12345.6, "USD"), "12346 USD");
    EXPECT(quantity_cost(0.05246, NULL), "0.0525");
    EXPECT(quantity_cost((double)NAN, "EUR"), "unknown");
}

Test(quantity_text, numbers_have_no_exponent)
{
    EXPECT(quantity_number(0.00123456), "0.00123");
    EXPECT(quantity_number(0.35), "0.35");
    EXPECT(quantity_number(12.34), "12.3");
    EXPECT(quantity_number(999.96), "1000");
    EXPECT(quantity_number(51200), "51200");
    EXPECT(quantity_number(1e9), "1000000000");
    EXPECT(quantity_number(-2.5), "-2.5");
    EXPECT(quantity_number((double)INFINITY), "infinite");
    EXPECT(quantity_digits(394.9321, 4), "394.9");
    EXPECT(quantity_count(1234567), "1234567");
    /* From a hundredth to a billion. */
    for (double value = 0.012345; value < 1e9; value *= 3)
        cr_expect(strchr(quantity_number(value).text, 'e') == NULL, "%g", value);
}

Test(quantity_text, bytes_are_counted_by_1024)
{
    EXPECT(quantity_bytes(0), "0 B");
    EXPECT(quantity_bytes(1), "1 B");
    EXPECT(quantity_bytes(1023), "1023 B");
    EXPECT(quantity_bytes(1024), "1.0 KiB");
    EXPECT(quantity_bytes(2053), "2.0 KiB");
    EXPECT(quantity_bytes(1024.0 * 1023.4), "1023 KiB");
    EXPECT(quantity_bytes(1024.0 * 1023.6), "1.0 MiB");
    EXPECT(quantity_bytes(100e6), "95.4 MiB");
    EXPECT(quantity_bytes(99.96 * 1073741824), "100 GiB");
    EXPECT(quantity_bytes(25.0 * 1073741824), "25.0 GiB");
    EXPECT(quantity_bytes(-3.0 * 1048576), "-3.0 MiB");
    EXPECT(quantity_bytes(1099511627776.0), "1.0 TiB");
    EXPECT(quantity_bytes(4096.0 * 1125899906842624.0), "4096 PiB");
}

Test(quantity_text, problem_sizes_have_the_unit_of_their_measure)
{
    EXPECT(quantity_problem_size(404, "input_blocks"), "50.5 GiB in 404 blocks");
    EXPECT(quantity_problem_size(394.9321, "input_blocks"), "49.4 GiB in 394.9 blocks");
    EXPECT(quantity_problem_size(1, "input_blocks"), "128 MiB in 1 block");
    EXPECT(quantity_problem_size(0.5, "input_blocks"), "64.0 MiB in 0.5 blocks");
    EXPECT(quantity_problem_size(1e12, "input_blocks"), "119209 PiB in 1000000000000 blocks");
    EXPECT(quantity_problem_size(1, "first_parallel_stage"), "1 task");
    EXPECT(quantity_problem_size(4, "first_parallel_stage"), "4 tasks");
    EXPECT(quantity_problem_size(4, "first_stage"), "4 tasks");
    EXPECT(quantity_problem_size(12345678, "input_records"), "12345678 records");
    EXPECT(quantity_problem_size(12.5, "label"), "12.5");
    EXPECT(quantity_problem_size(64, NULL), "64");
    EXPECT(quantity_problem_size(1e-9, NULL), "0.000000001");
    EXPECT(quantity_problem_size(123456, NULL), "123456");
}
