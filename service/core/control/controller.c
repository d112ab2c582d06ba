/*
 * xSpark's controller of an executor (S. Ripamonti, thesis, Politecnico di Milano 2017, section
 * 3.5, Alg. 1 and 4). Differs from the thesis: the integral takes the time that has really passed
 * since the last sample, and nobody asks for more cores than it has tasks left. O(1).
 */
#include "core/control/controller.h"

#include <math.h>

struct control_terms control_terms_default(void)
{
    return (struct control_terms){
        .gain = 50, .integral_time_s = 12, .sample_s = 1, .core_quantum = 0.05, .core_min = 0};
}

static double set_point(const struct control_reading *reading)
{
    double share = reading->deadline_s > 0 ? reading->elapsed_s / reading->deadline_s : 1;
    return share < 1 - 1e-9 ? share : 1; /* a time that equals the deadline is at it */
}

struct control_request control_ask(const struct control_terms *terms,
                                   const struct control_reading *reading)
{
    struct control_request request = {.set_point = set_point(reading),
                                      .progress = reading->completed / reading->tasks};
    double error = request.set_point - request.progress;
    request.proportional_cores = terms->gain * error;
    double integral =
        reading->integral_cores + terms->gain * (reading->since_s / terms->integral_time_s) * error;
    if (reading->completed >= reading->tasks)
        request.cores = 0;
    else if (request.set_point >= 1)
        request.cores = reading->worker_cores;
    else
        request.cores = fmin(fmax(terms->core_min, request.proportional_cores + integral),
                             reading->tasks - reading->completed);
    return request;
}

double control_integral(double granted, const struct control_request *request)
{
    return granted - request->proportional_cores;
}
