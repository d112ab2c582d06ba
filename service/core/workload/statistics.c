#include "core/workload/statistics.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"

static const uint64_t TAIL_JOBS_LEAST = 100;

static void pair_add(struct pair_sums *sums, double x, double y)
{
    double from_x = x - sums->mean_x;
    double from_y = y - sums->mean_y;
    sums->n++;
    sums->mean_x += from_x / sums->n;
    sums->mean_y += from_y / sums->n;
    sums->xx += from_x * (x - sums->mean_x);
    sums->yy += from_y * (y - sums->mean_y);
    sums->xy += from_x * (y - sums->mean_y);
}

void workload_statistics_init(struct workload_statistics *statistics, struct budget *budget)
{
    *statistics = (struct workload_statistics){.budget = budget,
                                               .first_arrival_s = HUGE_VAL,
                                               .last_arrival_s = -HUGE_VAL,
                                               .arrival_before_s = -HUGE_VAL};
}

static void add_arrival(struct workload_statistics *s, double arrival_s)
{
    s->out_of_order += arrival_s < s->arrival_before_s;
    s->arrival_before_s = arrival_s;
    s->first_arrival_s = fmin(s->first_arrival_s, arrival_s);
    s->last_arrival_s = fmax(s->last_arrival_s, arrival_s);
}

static void add_to_law(struct workload_statistics *s, double input_bytes, double size_s)
{
    if (input_bytes > 0) {
        pair_add(&s->sizes, input_bytes, size_s);
        pair_add(&s->log_sizes, log(input_bytes), log(size_s));
    } else if (input_bytes == 0) {
        running_moments_add(&s->without_input, size_s);
    }
}

enum pv_code workload_statistics_add(struct workload_statistics *s,
                                     const struct workload_job *job,
                                     struct pv_error *err)
{
    struct compensated_sum size_s = {0};
    double tasks = 0;
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        for (size_t i = 0; i < job->n_runs[l]; i++) {
            struct workload_run run = job->runs[l][i];
            double count = (double)run.count;
            PV_TRY(distribution_add(&s->task_s[l], s->budget, run.duration_s, count, err));
            compensated_sum_add(&size_s, count * run.duration_s);
            s->tasks[l] += run.count;
            tasks += count;
        }
    }
    double size = compensated_sum_value(&size_s);
    PV_TRY(distribution_add(&s->job_tasks, s->budget, tasks, 1, err));
    PV_TRY(distribution_add(&s->job_mean_s, s->budget, size / tasks, 1, err));
    PV_TRY(distribution_add(&s->job_size_s, s->budget, size, 1, err));
    compensated_sum_add(&s->work_s, size);
    add_arrival(s, job->arrival_s);
    add_to_law(s, job->input_bytes, size);
    s->jobs++;
    s->name_bytes += job->name.n + 1;
    return PV_OK;
}

/* The squared correlation; sizes that are all equal are predicted exactly. */
static double r_squared(const struct pair_sums *sums)
{
    if (!(sums->xx > 0))
        return (double)NAN;
    return sums->yy > 0 ? sums->xy / sums->xx * (sums->xy / sums->yy) : 1;
}

static struct workload_size_law law_of(const struct workload_statistics *s)
{
    double none = (double)NAN;
    return (struct workload_size_law){
        .jobs = (uint64_t)s->sizes.n,
        .seconds_per_byte = s->sizes.n > 0 ? s->sizes.mean_y / s->sizes.mean_x : none,
        .r_squared = r_squared(&s->sizes),
        .log_r_squared = r_squared(&s->log_sizes),
        .without_input_s = s->without_input.n > 0 ? s->without_input.mean : none};
}

static void describe_tail(const struct workload_statistics *s, struct workload_summary *summary)
{
    double jobs = (double)s->jobs;
    double size_s = compensated_sum_value(&s->job_size_s.sum);
    summary->largest_1_share = distribution_top_sum(&s->job_size_s, ceil(jobs / 100)) / size_s;
    summary->largest_10_share = distribution_top_sum(&s->job_size_s, ceil(jobs / 10)) / size_s;
    summary->tail_index = (double)NAN;
    summary->tail_jobs = s->jobs >= TAIL_JOBS_LEAST ? (uint64_t)sqrt(jobs) : 0;
    if (summary->tail_jobs > 0)
        summary->tail_index = distribution_tail_index(&s->job_size_s, (double)summary->tail_jobs);
}

/* Such tasks run on when nothing arrives any more: what is simulated is mostly their end. */
static void
warn_of_long_tasks(const struct workload_statistics *s, double span_s, struct findings *warnings)
{
    double longest_s = fmax(s->task_s[WORKLOAD_TASKS].max, s->task_s[WORKLOAD_REDUCES].max);
    if (!(span_s > 0) || longest_s <= span_s)
        return;
    double count = distribution_above(&s->task_s[WORKLOAD_TASKS], span_s) +
                   distribution_above(&s->task_s[WORKLOAD_REDUCES], span_s);
    count = fmax(count, 1); /* a bucket's mean may be below where its largest is above */
    struct finding *finding = finding_add(
        warnings, "tasks_longer_than_trace",
        "%.0f task%s last longer than the %s from the first arrival to the last; the longest "
        "takes %s",
        count, PLURAL(count), quantity_duration(span_s).text, quantity_duration(longest_s).text);
    finding_number(finding, "count", count);
    finding_number(finding, "longest_s", longest_s);
    finding_number(finding, "trace_s", span_s);
}

enum pv_code workload_statistics_finish(struct workload_statistics *s,
                                        struct workload_summary *summary,
                                        struct pv_error *err)
{
    PV_TRY(distribution_finish(&s->job_tasks, s->budget, err));
    PV_TRY(distribution_finish(&s->job_mean_s, s->budget, err));
    PV_TRY(distribution_finish(&s->job_size_s, s->budget, err));
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        PV_TRY(distribution_finish(&s->task_s[l], s->budget, err));
        summary->tasks[l] = s->tasks[l];
        summary->task_s[l] = distribution_describe(&s->task_s[l]);
    }
    double span_s = s->last_arrival_s - s->first_arrival_s;
    summary->jobs = s->jobs;
    summary->name_bytes = s->name_bytes;
    summary->sorted = s->out_of_order == 0;
    summary->first_arrival_s = s->first_arrival_s;
    summary->last_arrival_s = s->last_arrival_s;
    summary->work_s = compensated_sum_value(&s->work_s);
    summary->offered_slots = span_s > 0 ? summary->work_s / span_s : (double)NAN;
    summary->job_tasks = distribution_describe(&s->job_tasks);
    summary->job_mean_s = distribution_describe(&s->job_mean_s);
    summary->job_size_s = distribution_describe(&s->job_size_s);
    summary->size_law = law_of(s);
    describe_tail(s, summary);
    warn_of_long_tasks(s, span_s, &summary->warnings);
    return PV_OK;
}

void workload_statistics_fini(struct workload_statistics *s)
{
    distribution_fini(&s->job_tasks, s->budget);
    distribution_fini(&s->job_mean_s, s->budget);
    distribution_fini(&s->job_size_s, s->budget);
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++)
        distribution_fini(&s->task_s[l], s->budget);
}
