/* What an import says: lines that stay lines, JSON that stays JSON, numbers for people. */
#include "logfiles/report.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static char name[] = "logs/tab\tline\nbad\xff";

struct spoken {
    char *out;
    size_t out_n;
    char *err;
    size_t err_n;
};

/* One log stored, one refused, of three found. */
static struct spoken speak(enum report_form form, bool quiet)
{
    struct spoken spoken;
    struct report report;
    report_init(&report, "provisord: import", form, quiet, false);
    report_add(&report, 3, 3000);
    report.out = open_memstream(&spoken.out, &spoken.out_n);
    report.err = open_memstream(&spoken.err, &spoken.err_n);
    report.bar = false;
    struct log_result stored = {
        .name = name, .bytes = 1000, .outcome = LOG_STORED, .application = "etl"};
    struct log_result refused = {.name = name,
                                 .bytes = 1000,
                                 .outcome = LOG_REJECTED,
                                 .code = "conflict",
                                 .reason = "because"};
    report_item(&report, &stored);
    report_item(&report, &refused);
    struct log_progress progress = {.items = 2, .bytes = 1000};
    report_progress(&report, &progress, report.begun_ns + 1000);
    report_progress(&report, &progress, report.begun_ns + UINT64_C(20000000000));
    report_end(&report, true, report.begun_ns + UINT64_C(61000000000));
    cr_assert_not(report.failed);
    (void)fclose(report.out);
    (void)fclose(report.err);
    return spoken;
}

static void forget(struct spoken *spoken)
{
    free(spoken->out);
    free(spoken->err);
}

Test(report, text_is_a_line_an_item_whatever_its_name)
{
    struct spoken spoken = speak(REPORT_TEXT, false);
    cr_assert_str_eq(spoken.out, "stored\tetl\tlogs/tab?line?bad?\t\n"
                                 "rejected\t-\tlogs/tab?line?bad?\tbecause\n");
    cr_assert_str_eq(
        spoken.err,
        "provisord: import: 2 of 3 files, 1000 B of 2.9 KiB, 50 B/s, 0:40 left, 1 rejected\n"
        "provisord: import interrupted: 1 stored, 0 duplicates, 0 replaced, 0 ignored, 1 rejected,"
        " 1 not attempted; 2.9 KiB in 1:01\n");
    forget(&spoken);
}

Test(report, quiet_reports_only_what_was_rejected)
{
    struct spoken spoken = speak(REPORT_TEXT, true);
    cr_assert_str_eq(spoken.out, "rejected\t-\tlogs/tab?line?bad?\tbecause\n");
    cr_assert_str_eq(spoken.err, "");
    forget(&spoken);
}

Test(report, json_is_one_value_a_line)
{
    struct spoken spoken = speak(REPORT_JSON, true);
    char *rest = NULL;
    json_t *first = json_loads(strtok_r(spoken.out, "\n", &rest), 0, NULL);
    json_t *second = json_loads(strtok_r(NULL, "\n", &rest), 0, NULL);
    json_t *last = json_loads(strtok_r(NULL, "\n", &rest), 0, NULL);
    cr_assert_str_eq(json_string_value(json_object_get(first, "name")), "logs/tab\tline\nbad?");
    cr_assert_str_eq(json_string_value(json_object_get(first, "outcome")), "stored");
    cr_assert(json_is_null(json_object_get(first, "reason")));
    cr_assert_str_eq(json_string_value(json_object_get(second, "code")), "conflict");
    json_t *totals = json_object_get(last, "totals");
    cr_assert_eq(json_integer_value(json_object_get(totals, "stored")), 1);
    cr_assert_eq(json_integer_value(json_object_get(totals, "not_attempted")), 1);
    cr_assert(json_is_true(json_object_get(totals, "interrupted")));
    json_decref(first);
    json_decref(second);
    json_decref(last);
    forget(&spoken);
}

Test(report, times_for_people)
{
    char text[REPORT_NUMBER];
    static const struct {
        double seconds;
        const char *want;
    } times[] = {{-1, "0:00"}, {9.4, "0:09"}, {59.6, "1:00"}, {3599, "59:59"}, {3727, "1:02:07"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        report_format_seconds(times[i].seconds, text);
        cr_expect_str_eq(text, times[i].want);
    }
}
