#ifndef CORE_SCALING_LAWS_GUSTAFSON_H
#define CORE_SCALING_LAWS_GUSTAFSON_H

#include "core/scaling/model/law.h"

/*
 * J. L. Gustafson, "Reevaluating Amdahl's law", CACM 31, 1988; with n = executors:
 *
 *     S(n) = eta n + 1 - eta
 *
 * for a problem that grows along with the executors. Durations: the law says that T is the same for
 * all n as long as each executor gets as much as the one had; so a series of one N/m shows T1 and
 * nothing of eta. Runs of other N/m do: with N0 = `size_per_executor`, the mean N/m observed (sum
 * of N over sum of m),
 *
 *     T(N, m) = T1 (1 - eta + eta N/(m N0)),
 *
 * whose T(n N0, 1)/T(n N0, n) is the law above. Linear in T1 (1 - eta) and T1 eta, both >= 0;
 * T1 = `sequential_s`. Speedups: eta alone, least squared relative error.
 */
extern const struct model_kind gustafson_kind;

#endif
