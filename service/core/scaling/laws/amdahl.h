#ifndef CORE_SCALING_LAWS_AMDAHL_H
#define CORE_SCALING_LAWS_AMDAHL_H

#include "core/scaling/model/law.h"

/*
 * G. M. Amdahl, "Validity of the single processor approach to achieving large scale computing
 * capabilities", AFIPS 1967; as in USBA eq. 3.2, with n = executors:
 *
 *     S(n) = 1 / (eta/n + 1 - eta),  T(n) = T1 (eta/n + 1 - eta)
 *
 * for a problem of one size. Durations: T = a + b/n with a, b >= 0, so that eta = b/(a + b) and
 * T1 = a + b = `sequential_s`. Speedups: eta alone, least squared relative error.
 */
extern const struct model_kind amdahl_kind;

/* S(n), and dS/deta. */
double amdahl_speedup(double eta, double executors, double *slope);

#endif
