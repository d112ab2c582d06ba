#include "core/scaling/model/predictive.h"
#include "core/numerics/student.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

double prediction_score(double actual, double predicted)
{
    double score = fabs(log(actual / fmax(predicted, actual / 1000)));
    return score < 700 ? score : 700; /* a law may well leave what a double holds */
}

/* --- scores --- */

static int predictive_ascending(const void *a, const void *b)
{
    const struct group_score *x = a;
    const struct group_score *y = b;
    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* What the weights of each group add up to, and the largest of them; groups <= SCORES_MAX. */
struct group_sums {
    double sum[SCORES_MAX];
    double most[SCORES_MAX];
};

static struct group_sums sum_groups(const struct group_score scores[], size_t n)
{
    struct group_sums sums = {.sum = {0}};
    for (size_t i = 0; i < n; i++) {
        size_t g = scores[i].group;
        sums.sum[g] += scores[i].weight;
        sums.most[g] = fmax(sums.most[g], scores[i].weight);
    }
    return sums;
}

/* Levels and the root mean square, where score i has shares[i] of `mass` in all and `beyond` lies
 * beyond the largest. */
static void fill_table(const struct group_score scores[],
                       const double shares[],
                       size_t n,
                       double mass,
                       double beyond,
                       struct score_table *table)
{
    double level = 0;
    double squares = 0;
    size_t kept = n < SCORES_MAX ? n : SCORES_MAX;
    for (size_t i = 0; i < n; i++) {
        level += shares[i] / (mass + beyond);
        squares += shares[i] * scores[i].score * scores[i].score;
        if (i + 1 == (table->n + 1) * n / kept) {
            table->scores[table->n] = scores[i].score;
            table->levels[table->n++] = level;
        }
    }
    table->spread = sqrt(squares / mass);
}

enum pv_code score_table_make(struct group_score scores[],
                              size_t n,
                              size_t groups,
                              double freedom,
                              struct arena *scratch,
                              struct score_table *table,
                              struct pv_error *err)
{
    double *shares = arena_array(scratch, n, sizeof *shares);
    double mass = 0;
    *table = (struct score_table){.n = 0, .freedom = fmax(1, freedom)};
    if (shares == NULL)
        return pv_no_memory(err);
    if (n == 0)
        return PV_OK;
    qsort(scores, n, sizeof *scores, predictive_ascending);
    struct group_sums sums = {.sum = {0}};
    if (groups > 0)
        sums = sum_groups(scores, n);
    for (size_t i = 0; i < n; i++) {
        size_t g = scores[i].group;
        shares[i] = groups == 0 ? scores[i].weight : scores[i].weight / sums.sum[g] * sums.most[g];
        mass += shares[i];
    }
    fill_table(scores, shares, n, mass, groups == 0 ? 1 : mass / (double)n, table);
    return PV_OK;
}

void score_table_add(struct score_table *table, double score)
{
    if (table->n == SCORES_MAX)
        return;
    double last = table->n == 0 ? 0 : table->levels[table->n - 1];
    double mass = last / (1 - last);
    size_t at = table->n++;
    for (; at > 0 && table->scores[at - 1] > score; at--) {
        table->scores[at] = table->scores[at - 1];
        table->levels[at] = table->levels[at - 1] * (mass + 1) / (mass + 2) + 1 / (mass + 2);
    }
    for (size_t i = 0; i < at; i++)
        table->levels[i] *= (mass + 1) / (mass + 2);
    table->scores[at] = score;
    table->levels[at] = (at == 0 ? 0 : table->levels[at - 1]) + 1 / (mass + 2);
    table->spread = sqrt((mass * table->spread * table->spread + score * score) / (mass + 1));
    table->freedom++;
}

double score_table_quantile(const struct score_table *table, double level)
{
    if (table->n == 0)
        return (double)NAN;
    double last = table->scores[table->n - 1];
    if (level > table->levels[table->n - 1])
        return fmax(last, table->spread * student_quantile(level, table->freedom));
    double below = 0;
    double score = 0;
    for (size_t i = 0; i < table->n; i++) {
        if (level <= table->levels[i]) {
            double step = table->levels[i] - below;
            double share = step > 0 ? (level - below) / step : 1;
            return score + share * (table->scores[i] - score);
        }
        below = table->levels[i];
        score = table->scores[i];
    }
    return last;
}

/* The probability of a score of at most that: the inverse of score_table_quantile. */
static double score_table_level(const struct score_table *table, double score)
{
    if (table->n == 0)
        return (double)NAN;
    size_t last = table->n - 1;
    if (score >= table->scores[last]) {
        double tail = 0;
        if (table->spread > 0)
            tail = 1 - 2 * gsl_cdf_tdist_Q(score / table->spread, table->freedom);
        else if (score > 0)
            tail = 1;
        return fmax(table->levels[last], tail);
    }
    double below = 0;
    double from = 0;
    for (size_t i = 0; i <= last; i++) {
        if (score < table->scores[i]) {
            double step = table->scores[i] - from;
            return below + (step > 0 ? (score - from) / step : 1) * (table->levels[i] - below);
        }
        below = table->levels[i];
        from = table->scores[i];
    }
    return below;
}

/* --- the distribution --- */

void predictive_add(struct predictive *predictive, struct predictive_part part)
{
    if (predictive->n == PREDICTIVE_PARTS_MAX || !(part.scale > 0) || !isfinite(part.scale))
        return;
    if (part.shape == PREDICTIVE_LOG_SCORES ? part.table == NULL || part.table->n == 0
                                            : !(part.freedom > 0))
        return;
    predictive->parts[predictive->n++] = part;
}

/* How far shorter times lie off, of what longer ones do. */
static double piece_of(const struct predictive *predictive, double side)
{
    return side < 0 && predictive->shorter > 0 ? predictive->shorter : 1;
}

double predictive_below(const struct predictive *predictive)
{
    double piece = piece_of(predictive, -1);
    return piece / (1 + piece);
}

/* How far from the prediction the part reaches with probability `level` of the times on one side,
 * in its own terms. */
static double predictive_reach(const struct predictive_part *part, double level)
{
    if (part->shape == PREDICTIVE_LOG_SCORES)
        return part->scale * score_table_quantile(part->table, level);
    return part->scale * student_quantile(level, part->freedom);
}

/* Its inverse. */
static double level_of(const struct predictive_part *part, double far)
{
    if (part->shape == PREDICTIVE_LOG_SCORES)
        return score_table_level(part->table, far / part->scale);
    return 1 - 2 * gsl_cdf_tdist_Q(far / part->scale, part->freedom);
}

/* The time at that reach above (side 1) or below (-1) the prediction. */
static double time_at(const struct predictive *predictive,
                      const struct predictive_part *part,
                      double far,
                      double side)
{
    far *= piece_of(predictive, side);
    if (part->shape == PREDICTIVE_STUDENT)
        return predictive->predicted_s + side * far;
    return predictive->predicted_s * exp(side * far);
}

/* The times that the parts reach with that probability of the times on one side, at each side asked
 * for; sides that are alike share the reach, which is what costs. */
static void find_ends(const struct predictive *predictive,
                      double level,
                      const double sides[],
                      size_t n,
                      double ends_s[])
{
    for (size_t k = 0; k < n; k++)
        ends_s[k] = predictive->n == 0 ? (double)NAN : predictive->predicted_s;
    for (size_t i = 0; i < predictive->n; i++) {
        const struct predictive_part *part = &predictive->parts[i];
        double far = predictive_reach(part, level);
        for (size_t k = 0; k < n; k++) {
            double at_s = time_at(predictive, part, far, sides[k]);
            ends_s[k] = sides[k] > 0 ? fmax(ends_s[k], at_s) : fmin(ends_s[k], at_s);
        }
    }
    for (size_t k = 0; k < n; k++)
        if (!(ends_s[k] > 0) || !isfinite(ends_s[k]))
            ends_s[k] = (double)NAN;
}

double predictive_mixture_probability(const struct predictive_mixture *mixture, double duration_s)
{
    double sum = 0;
    for (size_t i = 0; i < mixture->n; i++)
        sum += mixture->weights[i] * predictive_probability(&mixture->parts[i], duration_s);
    return sum;
}

/* The quantile lies between those of the parts. Between them the probability grows, so bisection finds
 * it. */
double predictive_mixture_quantile(const struct predictive_mixture *mixture, double p)
{
    double low_s = (double)INFINITY, high_s = 0;
    for (size_t i = 0; i < mixture->n; i++) {
        double at_s = predictive_quantile(&mixture->parts[i], p);
        if (isnan(at_s))
            return at_s;
        low_s = fmin(low_s, at_s);
        high_s = fmax(high_s, at_s);
    }
    for (int step = 0; step < 60 && high_s - low_s > 1e-11 * high_s; step++) {
        double middle_s = sqrt(low_s) * sqrt(high_s);
        if (predictive_mixture_probability(mixture, middle_s) < p)
            low_s = middle_s;
        else
            high_s = middle_s;
    }
    return high_s;
}

static struct predictive_mixture split_centres(const struct predictive *predictive)
{
    struct predictive_mixture mixture = {.n = predictive->n_centres};
    for (size_t i = 0; i < mixture.n; i++) {
        mixture.parts[i] = *predictive;
        mixture.parts[i].predicted_s = predictive->centres[i].predicted_s;
        mixture.parts[i].n_centres = 0;
        mixture.weights[i] = predictive->centres[i].probability;
    }
    return mixture;
}

void predictive_mix(struct predictive *predictive,
                    const struct predictive_centre centres[],
                    size_t n)
{
    predictive->n_centres = n;
    for (size_t i = 0; i < n; i++)
        predictive->centres[i] = centres[i];
    if (n > 0)
        predictive->predicted_s = predictive_quantile(predictive, 0.5);
}

double predictive_quantile(const struct predictive *predictive, double p)
{
    if (predictive->n_centres > 0) {
        struct predictive_mixture mixture = split_centres(predictive);
        return predictive_mixture_quantile(&mixture, p);
    }
    double below = predictive_below(predictive);
    double side = p < below ? -1 : 1;
    double level = p < below ? 1 - p / below : (p - below) / (1 - below);
    double end_s;
    find_ends(predictive, level, &side, 1, &end_s);
    return end_s;
}

double predictive_probability(const struct predictive *predictive, double duration_s)
{
    double below = predictive_below(predictive);
    double side = duration_s < predictive->predicted_s ? -1 : 1;
    double level = 1;
    if (predictive->n_centres > 0) {
        struct predictive_mixture mixture = split_centres(predictive);
        return predictive_mixture_probability(&mixture, duration_s);
    }
    if (predictive->n == 0)
        return (double)NAN;
    if (!(duration_s > 0))
        return 0;
    for (size_t i = 0; i < predictive->n; i++) {
        const struct predictive_part *part = &predictive->parts[i];
        double far = part->shape == PREDICTIVE_STUDENT
                         ? fabs(duration_s - predictive->predicted_s)
                         : fabs(log(duration_s / predictive->predicted_s));
        level = fmin(level, level_of(part, far / piece_of(predictive, side)));
    }
    return side < 0 ? below * (1 - level) : below + (1 - below) * level;
}

void predictive_interval(const struct predictive *predictive, double confidence, double ends_s[2])
{
    static const double both[] = {-1, 1};
    if (piece_of(predictive, -1) == 1 && predictive->n_centres == 0) {
        find_ends(predictive, confidence, both, 2, ends_s);
        return;
    }
    ends_s[0] = predictive_quantile(predictive, (1 - confidence) / 2);
    ends_s[1] = predictive_quantile(predictive, (1 + confidence) / 2);
}
