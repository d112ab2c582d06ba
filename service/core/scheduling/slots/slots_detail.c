#include "core/scheduling/slots/slots_detail.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/rounding.h"

static enum pv_code take_classes(const struct slots_job jobs[],
                                 size_t n,
                                 const struct slots_job_times times[],
                                 const double runtime_s[],
                                 struct arena *scratch,
                                 struct slots_detail *detail,
                                 struct pv_error *err)
{
    struct slowdown_job *ended = arena_array(scratch, n, sizeof *ended);
    struct slowdown_summary summary;
    if (ended == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        ended[i] = (struct slowdown_job){
            .arrival_s = 0,
            .finish_s = rounding_elapsed(jobs[i].arrival_s, times[i].finish_s, runtime_s[i]),
            .runtime_s = runtime_s[i],
            .size_s = slots_job_size(&jobs[i]),
            .longest_task_s = (double)NAN};
    PV_TRY(slowdown_summarize(ended, n, NULL, 0, scratch, &summary, err));
    assert(summary.n_classes <= SLOTS_SIZE_CLASSES_MAX);
    memcpy(detail->classes, summary.classes, summary.n_classes * sizeof *summary.classes);
    detail->n_classes = summary.n_classes;
    return PV_OK;
}

static bool take_distribution(const struct slots_job jobs[],
                              size_t n,
                              const struct slots_job_times times[],
                              const double slowdown[],
                              struct arena *scratch,
                              struct job_distribution *distribution)
{
    double *completion_s = arena_array(scratch, n, sizeof *completion_s);
    for (size_t i = 0; completion_s != NULL && i < n; i++)
        completion_s[i] = times[i].finish_s - jobs[i].arrival_s;
    return completion_s != NULL &&
           job_distribution_of(completion_s, slowdown, n, scratch, distribution);
}

static double last_finish(const struct slots_job_times times[], size_t n)
{
    double last_s = 0;
    for (size_t i = 0; i < n; i++)
        last_s = fmax(last_s, times[i].finish_s);
    return last_s;
}

enum pv_code slots_detail_take(const struct slots_job jobs[],
                               size_t n,
                               const struct slots_job_times times[],
                               const double runtime_s[],
                               const double slowdown[],
                               const struct occupancy *occupancy,
                               struct arena *scratch,
                               struct slots_detail *detail,
                               struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = take_classes(jobs, n, times, runtime_s, scratch, detail, err);
    if (code == PV_OK && detail->distribution != NULL &&
        !take_distribution(jobs, n, times, slowdown, scratch, detail->distribution))
        code = pv_no_memory(err);
    if (detail->queues != NULL)
        queue_lengths_take(occupancy, last_finish(times, n), detail->queues);
    arena_rewind(scratch, mark);
    return code;
}

static double mean_slowdown(const struct slowdown_class classes[], size_t n)
{
    double jobs = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        jobs += (double)classes[i].count;
        sum += (double)classes[i].count * classes[i].mean;
    }
    return n > 0 ? sum / jobs : (double)NAN;
}

struct slots_size_slowdown slots_size_slowdown_of(const struct slowdown_class classes[], size_t n)
{
    size_t first = n;
    double share = 0;
    while (first > 0 && share < 0.5)
        share += classes[--first].work_share;
    return (struct slots_size_slowdown){mean_slowdown(classes, first),
                                        mean_slowdown(classes + first, n - first)};
}
