#include "core/workload/workload.h"

#include <math.h>

const char *const workload_format_words[WORKLOAD_FORMATS] = {
    [WORKLOAD_PIGEON] = "pigeon",           [WORKLOAD_SWIM] = "swim",
    [WORKLOAD_GOOGLE_2011] = "google_2011", [WORKLOAD_GOOGLE_2019] = "google_2019",
    [WORKLOAD_PROVISOR] = "provisor",
};

const struct workload_limits workload_limits_default = {.jobs = 10000000,
                                                        .tasks = 10000000,
                                                        .job_tasks = 1000000,
                                                        .line_bytes = 16 << 20,
                                                        .open_tasks = 4 << 20};

double workload_predict_size(const struct workload_size_law *law, double input_bytes)
{
    if (input_bytes == 0)
        return law->without_input_s;
    return law->jobs > 0 ? law->seconds_per_byte * input_bytes : (double)NAN;
}
