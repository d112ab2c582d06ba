#ifndef CORE_SCALING_MODEL_PREDICTIVE_H
#define CORE_SCALING_MODEL_PREDICTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * How long a run may take: the distribution around a prediction. Intervals, one-sided bounds and
 * the probability of meeting a deadline all come from it, so they agree: the probability of the
 * bound that is kept with probability p is p.
 *
 * It is the widest of its parts at every level: above the prediction its quantile is the largest of
 * the parts' quantiles, below it the smallest, and the probability follows from that. Each part is
 * symmetric about the prediction, in seconds or in the logarithm of the time, or has two pieces,
 * which meet there: shorter times lie `shorter` times as far off as longer ones do. Then their
 * probability is shorter / (1 + shorter), so that the density does not jump (C. Fernandez,
 * M. F. J. Steel, "On Bayesian modeling of fat tails and skewness", JASA 93, 1998).
 */

enum { SCORES_MAX = 64 };

/*
 * Scores |ln(actual / predicted)| of runs that a prediction had not seen, as a distribution: a new
 * one stays at or below scores[i] with probability levels[i]. Between two levels it runs straight.
 * Beyond the last, which the number of scores sets, no score promises anything: there it goes on as
 * Student's t with their root mean square, though not below the largest score.
 */
struct score_table {
    double scores[SCORES_MAX]; /* ascending, >= 0 */
    double levels[SCORES_MAX]; /* ascending, inside (0, 1) */
    size_t n;                  /* 0: nothing is known */
    double spread;             /* root mean square of the scores */
    double freedom;            /* of the tail, >= 1 */
};

/* |ln(actual / predicted)|; a prediction below a thousandth of what came counts as that, so that a
 * fit that goes below zero does not make every interval endless. */
double prediction_score(double actual, double predicted);

/* Score and group of a run that a prediction had not seen. */
struct group_score {
    double score;
    size_t group;
    double weight; /* > 0: how much the run counts */
};

/*
 * Conformal levels. With n runs each score gets 1 / (n + 1) of the probability and the last share
 * lies beyond the largest (J. Lei and others, "Distribution-free predictive inference for
 * regression", JASA 113, 2018). Runs that count less get less: w / (1 + sum of w) (R. Foygel
 * Barber, E. Candes, A. Ramdas, R. Tibshirani, "Conformal prediction beyond exchangeability",
 * Annals of Statistics 51, 2023).
 *
 * Scores by groups, such as of the runs of a scale-out that were left out together, are those of
 * CV+ (R. Foygel Barber and others, "Predictive inference with the jackknife+", Annals of
 * Statistics 49, 2021): what n / (n + 1) is to be had is shared among the groups, each as its
 * heaviest run counts, and within a group by weight, so that no scale-out counts more for having
 * been run more often. That is calibrated on the mean rather than guaranteed: with K groups a
 * promise that always holds would end at K / (K + 1) (Y. Lee, R. Foygel Barber, R. Willett,
 * "Distribution-free inference with hierarchical data", 2023), which five scale-outs make 83
 * percent. The tail knows of K only.
 *
 * scores   n of them, sorted in place; their order changes no digit of the answer
 * groups   how many, at most SCORES_MAX, numbered from 0; 0: each run is a group of its own
 * freedom  of the tail; taken as at least 1
 *
 * Of more than SCORES_MAX scores so many are kept, each the next higher one. Without scores the
 * table is empty. PV_E_MEMORY. O(n log n).
 */
enum pv_code score_table_make(struct group_score scores[],
                              size_t n,
                              size_t groups,
                              double freedom,
                              struct arena *scratch,
                              struct score_table *table,
                              struct pv_error *err) PV_MUSTCHECK;

/* The table with one more score, of a run that counts as one. Does nothing to a full table, where
 * one more would not show. */
void score_table_add(struct score_table *table, double score);

/* The score that a new run stays at or below with that probability, inside (0, 1); NAN: unknown. */
double score_table_quantile(const struct score_table *table, double level);
enum predictive_shape {
    PREDICTIVE_LOG_STUDENT, /* ln T: t times scale */
    PREDICTIVE_LOG_SCORES,  /* ln T: a score of the table times scale */
    PREDICTIVE_STUDENT      /* T: t times scale, in seconds */
};

struct predictive_part {
    enum predictive_shape shape;
    double scale;                    /* > 0 */
    double freedom;                  /* of Student's t */
    const struct score_table *table; /* borrowed */
};

enum { PREDICTIVE_PARTS_MAX = 4, PREDICTIVE_CENTRES_MAX = 2 };

/* A hypothesis about the job: its prediction and its probability. */
struct predictive_centre {
    double predicted_s; /* > 0 */
    double probability; /* > 0 */
};

struct predictive {
    double predicted_s; /* > 0; the median, but of two pieces */
    /* With two or more centres the distribution is their mixture: the parts lie around each centre,
     * and predicted_s is the median of the mixture (predictive_mix). */
    struct predictive_centre centres[PREDICTIVE_CENTRES_MAX];
    size_t n_centres;
    double shorter; /* > 0; 0 counts as 1: shorter times are as likely as longer ones */
    struct predictive_part parts[PREDICTIVE_PARTS_MAX];
    size_t n; /* 0: nothing is known but the prediction */
};

/* P(T <= predicted_s). */
double predictive_below(const struct predictive *predictive);

/* Parts whose scale is not a number above 0, or whose table is empty, mean nothing and are dropped.
 */
void predictive_add(struct predictive *predictive, struct predictive_part part);

/* Makes the distribution, whose parts are complete, the mixture of n <= PREDICTIVE_CENTRES_MAX
 * hypotheses. Their probabilities add up to 1. */
void predictive_mix(struct predictive *predictive,
                    const struct predictive_centre centres[],
                    size_t n);

/* The time that is not exceeded with probability p, inside (0, 1). NAN: unknown, or beyond what is
 * a time (not above 0, not finite). Below a microsecond, apart from Student's t. */
double predictive_quantile(const struct predictive *predictive, double p);

/* P(T <= duration_s); NAN: unknown. */
double predictive_probability(const struct predictive *predictive, double duration_s);

/* Distributions with weights that add up to 1. */
struct predictive_mixture {
    struct predictive parts[PREDICTIVE_CENTRES_MAX];
    double weights[PREDICTIVE_CENTRES_MAX];
    size_t n;
};

/* The same of the mixture. NAN: unknown of a part. */
double predictive_mixture_quantile(const struct predictive_mixture *mixture, double p);
double predictive_mixture_probability(const struct predictive_mixture *mixture, double duration_s);

/* Both ends of the interval that holds T with that probability, as much beyond either. Of two
 * pieces a narrow one (of a third, where shorter times are half as likely) begins above the
 * prediction. */
void predictive_interval(const struct predictive *predictive, double confidence, double ends_s[2]);

#endif
