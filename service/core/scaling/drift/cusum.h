#ifndef CORE_SCALING_DRIFT_CUSUM_H
#define CORE_SCALING_DRIFT_CUSUM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Two-sided cumulative sums of standardised errors (E. S. Page, "Continuous inspection schemes",
 * Biometrika 41, 1954; D. M. Hawkins and D. H. Olwell, "Cumulative Sum Charts and Charting for
 * Quality Improvement", Springer, 1998): each side adds up by how much the errors exceed the
 * reference value k and starts again from 0 where that falls below; a side beyond the threshold h
 * signals a shift of the mean.
 *
 * Errors are cut at +-CUSUM_ERROR_MAX first (Hawkins' winsorised chart): no single one, however
 * wild, can carry a side from 0 over a threshold above CUSUM_ERROR_MAX - k.
 */
#define CUSUM_ERROR_MAX 3.0

struct cusum_rule {
    double reference; /* k, in standard errors: half the shift it looks for */
    double threshold; /* h */
};

/*
 * The rule whose chart signals falsely once in `run_length` errors on the mean, both sides
 * together, where errors are independent and standard normal: D. Siegmund's corrected diffusion
 * ("Sequential Analysis", Springer, 1985, section X.2): (e^b - b - 1) / (2 k^2), b = 2 k (h
 * + 1.166), for one side, half of it for both. reference > 0, run_length > 2.
 */
struct cusum_rule cusum_rule(double reference, double run_length);

struct cusum {
    double up;   /* errors above 0 */
    double down; /* below */
    size_t n_up; /* errors since that side was last 0 */
    size_t n_down;
};

enum cusum_signal { CUSUM_QUIET = 0, CUSUM_UP = 1, CUSUM_DOWN = -1 };

/* Add one error (not NAN). Of two sides beyond the threshold the further one signals. */
enum cusum_signal cusum_add(struct cusum *cusum, const struct cusum_rule *rule, double error);

/* Neither side has anything added up. */
bool cusum_is_quiet(const struct cusum *cusum);

#endif
