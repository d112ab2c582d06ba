#include "core/scheduling/slots/omo.h"

#include <math.h>

#include "base/rounding.h"

void omo_rates_update(struct omo_rates *rates,
                      double weight,
                      double window_s,
                      double released,
                      double available_slots)
{
    double frequency_per_s = released / window_s;
    if (isnan(rates->release_frequency_per_s)) {
        *rates = (struct omo_rates){frequency_per_s, available_slots};
        return;
    }
    rates->release_frequency_per_s =
        weight * frequency_per_s + (1 - weight) * rates->release_frequency_per_s;
    rates->available_slots = weight * available_slots + (1 - weight) * rates->available_slots;
}

double
omo_shuffle_s(double map_output_bytes, size_t maps, size_t reduces, double bandwidth_bytes_per_s)
{
    return map_output_bytes * (double)maps / (bandwidth_bytes_per_s * (double)reduces);
}

static bool above(double a, double b)
{
    return a > b && !rounding_equal(a, b);
}

/* When to start: the gap falls by a step with every pending map, so that its amount is least near
 * its zero; of two equally small ones the larger number of maps. */
static void assess_start(const struct omo_rates *rates,
                         double active_jobs,
                         const struct omo_job *job,
                         struct omo_figures *figures)
{
    double pending = (double)figures->pending_maps;
    double left = rates->available_slots - (double)job->reduces; /* A_e */
    double without_maps_s = job->shuffle_s - job->map_task_s;
    figures->gap_s = figures->pending_maps == 0 ? without_maps_s : (double)NAN;
    figures->starts_at_pending_maps = 0;
    if (above(rates->release_frequency_per_s, 0) && above(left, 0)) {
        double step_s =
            rates->available_slots * active_jobs / (rates->release_frequency_per_s * left);
        if (figures->pending_maps > 0)
            figures->gap_s = job->shuffle_s - (pending * step_s + job->map_task_s);
        figures->starts_at_pending_maps = fmax(0, rounding_floor(without_maps_s / step_s + 0.5));
    }
    figures->may_start = pending <= figures->starts_at_pending_maps;
}

struct omo_figures
omo_assess(const struct omo_rates *rates, size_t active_jobs, const struct omo_job *job)
{
    double jobs = (double)active_jobs;
    double available = rates->available_slots;
    struct omo_figures figures = {
        .pending_maps = job->maps - job->maps_finished - job->maps_running,
        .occupied_slots = job->maps_running + job->reduces_running,
        .gap_s = (double)NAN,
        .starts_at_pending_maps = (double)NAN,
        .fair_s = (double)NAN,
        .batch_s = (double)NAN,
    };
    if (job->reduces == 0)
        return figures;
    if (omo_begun_reduces(job) == 0) {
        assess_start(rates, jobs, job, &figures);
        return figures;
    }
    if (figures.pending_maps > 0 && above(rates->release_frequency_per_s, 0)) {
        figures.fair_s =
            jobs * (double)figures.pending_maps / rates->release_frequency_per_s + job->map_task_s;
        /* F cancels out: others get F (K - 1)/K fair_s slots, at F (A + r)/A. */
        figures.batch_s =
            (jobs - 1) / jobs * figures.fair_s * available / (available + (double)job->reduces);
    }
    return figures;
}
