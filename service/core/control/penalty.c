/*
 * Penalties of simulated outcomes (docs/design.md, "Penalties"; S. Ripamonti, thesis, Politecnico
 * di Milano 2017, chapter 6). O(1) each.
 */
#include "core/control/penalty.h"

#include <math.h>

const char *const control_penalty_words[CONTROL_PENALTIES + 1] = {
    "strict", "proportional", "absolute_error", "no_starvation", "fair", "slow_first", NULL};

/* What lateness adds to a strict deadline that is missed anyway: the most that it can be. Of
 * outcomes with as many late jobs, for up to 100 of them, that with the least lateness is best. */
static const double STRICT_LATENESS = 0.01;

static double lateness(const struct edf_outcome *outcome, double deadline_s)
{
    return outcome->met ? 0 : outcome->execution_s / deadline_s - 1;
}

double control_penalty_of(enum control_penalty penalty,
                          const struct control_model *model,
                          const struct control_result *result,
                          size_t j)
{
    const struct edf_outcome *outcome = &result->outcomes[j];
    double deadline_s = model->actual[j].deadline_s;
    double late = lateness(outcome, deadline_s);
    double error = outcome->deadline_error_percent / 100;
    switch (penalty) {
    case CONTROL_STRICT:
        return outcome->met ? 0 : 1 + STRICT_LATENESS * late / (1 + late);
    case CONTROL_PROPORTIONAL:
        return late;
    case CONTROL_ABSOLUTE_ERROR:
        return error;
    case CONTROL_NO_STARVATION:
        return result->longest_wait_s == NULL ? (double)NAN
                                              : late + result->longest_wait_s[j] / deadline_s;
    case CONTROL_FAIR:
        return result->share_deviation == NULL ? (double)NAN : error + result->share_deviation[j];
    case CONTROL_SLOW_FIRST:
        return late * model->options.average_nominal_rate / model->jobs[j].nominal_rate;
    }
    return (double)NAN;
}
