#ifndef CORE_SCALING_LAWS_USBA_SCALED_H
#define CORE_SCALING_LAWS_USBA_SCALED_H

#include "core/scaling/model/law.h"

/*
 * USBA whose parallel part shrinks with the executors (docs/design.md, "USBA"):
 *
 *     T(N, m) = t0 q(m) + T1 (N/m) p(N, m)
 *
 * with q and p as in core/scaling/laws/usba.h. T - initialization is linear in c0..c3 over (N/m)
 * (1, ln(N/m), m, N), all of them >= 0; alpha, beta, gamma and T1 follow from them as for USBA
 * (reference extrapolated). USBA as published has no term in 1/m.
 */
extern const struct model_kind usba_scaled_kind;

#endif
