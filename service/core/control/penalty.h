#ifndef CORE_CONTROL_PENALTY_H
#define CORE_CONTROL_PENALTY_H

#include "core/control/simulation.h"

/*
 * What an outcome of a control simulation costs (docs/design.md, "Penalties"): the use cases of S.
 * Ripamonti, thesis, Politecnico di Milano 2017, chapter 6, and the strict and soft deadlines of
 * its outlook, as a number for each job. All are shares of a deadline or of cores, so jobs with
 * different penalties add up.
 */
enum control_penalty {
    CONTROL_STRICT,
    CONTROL_PROPORTIONAL,
    CONTROL_ABSOLUTE_ERROR,
    CONTROL_NO_STARVATION,
    CONTROL_FAIR,
    CONTROL_SLOW_FIRST
};
enum { CONTROL_PENALTIES = 6 };
extern const char *const control_penalty_words[CONTROL_PENALTIES + 1]; /* ended by NULL */

/* What is at stake with a job. */
struct control_stake {
    enum control_penalty penalty;
    double weight; /* > 0 */
};

/* Of job j, without its weight; 0 is best. NAN: the result does not know it. slow_first needs the
 * job's nominal rate. */
double control_penalty_of(enum control_penalty penalty,
                          const struct control_model *model,
                          const struct control_result *result,
                          size_t j);

#endif
