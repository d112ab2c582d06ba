#ifndef CORE_SCALING_LAWS_SUN_NI_H
#define CORE_SCALING_LAWS_SUN_NI_H

#include "core/scaling/model/law.h"

/*
 * X.-H. Sun, L. M. Ni, "Another view on parallel speedup", Supercomputing 1990 (memory-bounded
 * speedup); docs/design.md, "Speedup laws and IPSO", with n = executors:
 *
 *     S = (eta g + 1 - eta) / (eta g/n + 1 - eta)
 *
 * g is how much the parallel work has grown once the problem fills the memory of n executors. Here
 * it is fitted: g = (N/s)^b, where N is the problem size, s = `size_per_executor` the size of one
 * executor's share (given by the observations: mean N over mean n) and b = `growth`, in [0, 3]. b =
 * 0 is Amdahl's law, b = 1 Gustafson's at N = s n, and b > 1 work that grows faster than the data,
 * such as 3/2 for products of dense matrices.
 *
 *     T(N, n) = T1 (1 - eta + eta g/n),  T1 = `sequential_s`: the time of size s on one executor
 *
 * Durations: eta, b and T1; speedups: eta and b on relative error; by
 * core/numerics/levenberg_marquardt.h, each row left out by descending anew. At one problem size g
 * is one number that nothing separates from eta: such a fit is refused, as is one where nothing
 * runs in parallel and g has no effect.
 */
extern const struct model_kind sun_ni_kind;

#endif
