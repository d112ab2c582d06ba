/* What loading needs of a summary survives being kept as a record. */
#include "core/workload/workload_record.h"

#include <criterion/criterion.h>
#include <math.h>

Test(workload_record, counts_and_the_law_come_back)
{
    const struct workload_summary summary = {.jobs = 3,
                                             .tasks = {50, 7},
                                             .runs = {20, 2},
                                             .name_bytes = 17,
                                             .chunks = 4,
                                             .encoded_bytes = 900,
                                             .sorted = true,
                                             .size_law = {.jobs = 3,
                                                          .seconds_per_byte = 0.7,
                                                          .log_r_squared = 0.4,
                                                          .r_squared = 0.5,
                                                          .without_input_s = 9}};
    struct workload_record record = {.origin = WORKLOAD_PIGEON};
    struct workload_summary back;
    workload_record_count(&summary, &record);
    cr_expect(record.tasks == 57 && record.reduce_tasks == 7);
    cr_expect(record.runs == 22 && record.reduce_runs == 2);
    workload_record_summary(&record, &back);
    cr_expect(back.jobs == 3 && back.name_bytes == 17 && back.chunks == 4 && back.sorted);
    cr_expect(back.encoded_bytes == 900);
    for (size_t i = 0; i < WORKLOAD_LISTS; i++)
        cr_expect(back.tasks[i] == summary.tasks[i] && back.runs[i] == summary.runs[i]);
    cr_expect(back.size_law.jobs == 3 && back.size_law.seconds_per_byte == 0.7);
    cr_expect(back.size_law.log_r_squared == 0.4 && back.size_law.without_input_s == 9);
    cr_expect(back.size_law.r_squared == 0.5 && isnan(back.work_s) && isnan(back.task_s[0].p50));
}
