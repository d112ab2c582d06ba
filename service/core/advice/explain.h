#ifndef CORE_ADVICE_EXPLAIN_H
#define CORE_ADVICE_EXPLAIN_H

#include "core/advice/advise.h"

/*
 * Fill in advice->reasons and advice->warnings: why this executor count, from which runs, what
 * bounds the duration there, and what to be careful about. below_confidence: the deadline is
 * predicted to be met, but not with the asked confidence. PV_E_MEMORY.
 */
enum pv_code explain_advice(const struct curve *curve,
                            const struct curve_point *point,
                            const struct advise_question *question,
                            bool below_confidence,
                            struct arena *arena,
                            struct advice *advice,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
