#include "store/history/run_evidence_internal.h"

#include <math.h>

#include "core/history/warned_runs.h"

/* The text as a count of executors; NAN where it is none. */
static double count_in(struct strview text)
{
    double count = 0;
    if (text.at == NULL || text.n == 0 || text.n > 9)
        return (double)NAN;
    for (size_t i = 0; i < text.n; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return (double)NAN;
        count = 10 * count + (text.at[i] - '0');
    }
    return count;
}

static uint32_t read_warnings(struct row *row)
{
    size_t n;
    uint32_t warnings = 0;
    const struct strview *codes = row_texts(row, &n);
    for (size_t i = 0; codes != NULL && i < n; i++)
        warnings |= run_warning_bit(codes[i]);
    return warnings;
}

struct run_evidence run_evidence_read(struct row *row, int64_t executors, double duration_s)
{
    struct run_evidence evidence = {.executors_asked = (double)NAN, .executors_share = (double)NAN};
    row_uuid(row, evidence.run_id);
    evidence.instant_us = row_instant(row);
    evidence.replayable = row_bool(row);
    evidence.cores_per_executor = row_int(row);
    double core_s = row_double(row);
    double task_time_s = row_double(row);
    double failed_s = row_double(row);
    double asked = count_in(row_text(row));
    struct strview dynamic = row_text(row);
    evidence.executors_lost = row_bool(row);
    evidence.warnings = read_warnings(row);
    evidence.failed_share = failed_s / (task_time_s + failed_s);
    evidence.dynamic_allocation = strview_is(dynamic, "true");
    if (!evidence.dynamic_allocation)
        evidence.executors_asked = asked;
    if (executors >= 1 && evidence.cores_per_executor >= 1)
        evidence.executors_share =
            core_s / ((double)executors * (double)evidence.cores_per_executor * duration_s);
    return evidence;
}
