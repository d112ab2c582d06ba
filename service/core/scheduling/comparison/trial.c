#include "core/scheduling/comparison/trial.h"

struct rng trial_stream(const struct trial *trial, enum trial_purpose purpose, uint32_t job)
{
    const uint64_t keys[] = {purpose, trial->repetition, job};
    return variate_stream(trial->seed, keys, 3);
}

double trial_gap_s(const struct trial *trial, double rate_per_s, uint32_t job)
{
    struct rng stream = trial_stream(trial, TRIAL_ARRIVALS, job);
    return variate_exponential(&stream, rate_per_s);
}
