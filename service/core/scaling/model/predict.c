/*
 * Intervals of predictions (docs/design.md, "Intervals"): conformal ones from residuals of runs
 * that were left out, on the logarithm since run times err by factors, joined with the normal
 * theory of the fit itself. core/scaling/model/predictive.h holds the distribution and its sources.
 */
#include "core/scaling/model/predict.h"
#include "core/numerics/student.h"
#include "core/scaling/model/grouped_cv.h"
#include "core/scaling/model/physical_bounds.h"

#include <math.h>

/* Scale of Student's t over the standard deviation of repetitions, to which the far ones add much.
 * By public histories. */
static const double repetition_share = 0.62;

/* Of errors by size of a larger problem, how far shorter times lie off, of what longer ones do: more
 * data may exceed the memory. By public histories. */
static const double larger_shorter = 0.75;

static double quantile_of(double freedom, double confidence)
{
    return freedom > 0 ? student_quantile(confidence, freedom) : (double)NAN;
}

/* Degrees of freedom of the residuals of a fit. The prior of repetitions adds its own, because few
 * runs may fit well by chance. */
static double fit_freedom(const struct model_uncertainty *u)
{
    return u->freedom > 0 ? u->freedom + REPETITION_FREEDOM : 0;
}

struct model_spread model_spread(const struct model *model, double confidence)
{
    const struct model_uncertainty *u = &model->uncertainty;
    struct model_spread spread = MODEL_NO_SPREAD;
    if (u->observations == 0 || model->form == MODEL_OF_SPEEDUPS)
        return spread;
    spread.seen = score_table_quantile(&u->seen, confidence);
    spread.confidence = confidence;
    if (isfinite(u->residual_std))
        spread.t = quantile_of(fit_freedom(u), confidence);
    spread.repetition = quantile_of(REPETITION_FREEDOM, confidence);
    return spread;
}

/* g'Cg with the gradient of the duration by central differences. */
static double parameter_variance(const struct model_uncertainty *u,
                                 const struct model_law *law,
                                 double size,
                                 double m)
{
    double gradient[MODEL_PARAMETERS_MAX] = {0};
    struct model_law at = *law;
    size_t n = law->kind->n_parameters;
    for (size_t j = 0; j < n; j++) {
        if (!(u->covariance[j][j] > 0))
            continue;
        double step = 1e-6 * fmax(fabs(law->p[j]), 1e-3);
        at.p[j] = law->p[j] + step;
        gradient[j] = law->kind->duration_s(&at, size, m);
        at.p[j] = law->p[j] - step;
        gradient[j] = (gradient[j] - law->kind->duration_s(&at, size, m)) / (2 * step);
        at.p[j] = law->p[j];
    }
    double variance = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; gradient[a] != 0 && b < n; b++)
            variance += gradient[a] * u->covariance[a][b] * gradient[b];
    return fmax(variance, 0);
}

/* Where a question stands to what was observed. */
struct place {
    bool known;                   /* no error scale applies */
    double widths;                /* by which the seen scores widen, 1 or more */
    double half_s;                /* of the fit's own distribution, for t = 1; NAN: unknown */
    double repetition;            /* of ln T: scale of a further run about a mean of runs */
    bool open;                    /* nothing is known of it */
    struct model_error_scale off; /* where it is not known, of ln T: of longer times */
    double shorter;               /* times that: of shorter ones */
};

/* Of ln T, by how much the growth of what executors do not share is in doubt if one problem size
 * was seen and another is asked for: that part may stay the same, or grow with the size. */
static double
doubt_of_size(const struct model_uncertainty *u, const struct model_law *law, double size, double m)
{
    if (u->seen_sizes.n != 1)
        return 0;
    static const double exponent_std = 0.3;
    double share = physical_bounds_rest(law, u->seen_sizes.values[0], m);
    return isfinite(share) ? exponent_std * fabs(log(size / u->seen_sizes.values[0])) * share : 0;
}

/* Of ln T at a gap of 1 of sizes. Between two executor counts, the larger of theirs. */
static struct model_error_scale size_error(const struct model_uncertainty *u, double m)
{
    const struct model_size_error *at = u->size_errors;
    size_t k = 0;
    if (u->n_size_errors == 0)
        return u->new_sizes;
    while (k + 1 < u->n_size_errors && at[k + 1].executors <= m)
        k++;
    if (k + 1 < u->n_size_errors && at[k].executors < m && at[k + 1].scale.std > at[k].scale.std)
        k++;
    return at[k].scale;
}

/* Independent errors of the law together, with the heaviest tails of any. Degrees of freedom by Welch
 * and Satterthwaite would grow with a second error, and the interval near a count that ran would be
 * wider than farther off. For the same reason repetitions are a part of their own as well. */
static struct model_error_scale add_errors(const struct model_error_scale parts[], size_t n)
{
    struct model_error_scale all = {0, (double)INFINITY};
    for (size_t i = 0; i < n; i++) {
        all.std = hypot(all.std, parts[i].std);
        if (parts[i].std > 0)
            all.freedom = fmin(all.freedom, parts[i].freedom);
    }
    return all;
}

/* A further run differs from the law by its own noise and by that of the runs of its (N, m), or of
 * those nearby, which the law follows. */
static double repetition_scale(const struct model_uncertainty *u)
{
    double std = u->repetition_std > 0 ? u->repetition_std : REPETITION_STD;
    double configurations = fmax(1, (double)(u->seen_executors.n * u->seen_sizes.n));
    double each = fmax(1, (double)u->observations / configurations);
    return repetition_share * std * sqrt(1 + 1 / each);
}

static void set_scale(const struct model *model,
                      const struct model_law *law,
                      double size,
                      double m,
                      struct place *place)
{
    const struct model_uncertainty *u = &model->uncertainty;
    struct gap_weight below = {1, 1};
    /* Where runs in other contexts show the curve, it is as often too short as too long. */
    bool pooled = m >= u->pooled_executors[0] && m <= u->pooled_executors[1];
    /* Two counts show nothing of the curve: beyond either a law is as much in doubt. */
    if (!pooled && u->seen_executors.n > 2)
        below = gap_below(&u->seen_executors, m);
    double by_executors = gap_at(&u->seen_executors, m) * below.longer;
    double by_size = gap_at(&u->seen_sizes, size);
    place->known = !(by_executors > 0) && !(by_size > 0);
    place->open = by_executors > 0 && !(u->new_executors.freedom > 0);
    if (place->known || place->open)
        return;
    struct model_error_scale of_size = size_error(u, m);
    double off_size = by_size > 0 ? fmax(of_size.std * by_size, doubt_of_size(u, law, size, m)) : 0;
    bool larger = u->seen_sizes.n > 0 && size > u->seen_sizes.values[u->seen_sizes.n - 1];
    double shorter_size = larger ? larger_shorter * off_size : off_size;
    const struct model_error_scale parts[] = {
        {u->new_executors.std * by_executors, u->new_executors.freedom},
        {off_size, of_size.freedom}};
    place->off = add_errors(parts, sizeof parts / sizeof *parts);
    place->off.std = hypot(place->off.std, place->repetition);
    place->shorter =
        hypot(parts[0].std * below.shorter / below.longer, hypot(shorter_size, place->repetition)) /
        place->off.std;
}

static struct place predict_find_place(const struct model *model,
                                       const struct model_law *law,
                                       double size,
                                       double m,
                                       double duration_s)
{
    const struct model_uncertainty *u = &model->uncertainty;
    struct place place = {.widths = 1 + gap_overshoot(u->executors, m) +
                                    gap_overshoot(u->problem_size, size),
                          .half_s = (double)NAN,
                          .repetition = repetition_scale(u)};
    set_scale(model, law, size, m, &place);
    if (u->freedom > 0 && isfinite(u->residual_std)) {
        double residual = u->residual_std * (u->relative ? duration_s : 1);
        place.half_s = sqrt(parameter_variance(u, law, size, m) + residual * residual);
    }
    return place;
}

static struct predictive predict_off(const struct place *place, double duration_s)
{
    struct predictive off = {.predicted_s = duration_s, .shorter = place->shorter};
    predictive_add(&off, (struct predictive_part){PREDICTIVE_LOG_STUDENT, place->off.std,
                                                  place->off.freedom, NULL});
    predictive_add(&off, (struct predictive_part){PREDICTIVE_LOG_STUDENT, place->repetition,
                                                  REPETITION_FREEDOM, NULL});
    return off;
}

static void set_interval(const struct place *place,
                         const struct model_spread *spread,
                         struct model_prediction *out)
{
    if (place->open || isnan(spread->confidence))
        return;
    if (!place->known) {
        struct predictive off = predict_off(place, out->duration_s);
        predictive_interval(&off, spread->confidence, out->interval_s);
        return;
    }
    double far = fmax(spread->seen * place->widths, spread->repetition * place->repetition);
    double half = spread->t * place->half_s;
    double low = fmin(out->duration_s * exp(-far), out->duration_s - half);
    double high = fmax(out->duration_s * exp(far), out->duration_s + half);
    if (low > 0)
        out->interval_s[0] = low;
    if (isfinite(high))
        out->interval_s[1] = high;
}

bool model_predictive(const struct model *model,
                      double problem_size,
                      double executors,
                      struct predictive *predictive)
{
    const struct model_uncertainty *u = &model->uncertainty;
    const struct model_law law = model_law(model);
    double duration_s = model_duration(model, problem_size, executors);
    *predictive = (struct predictive){.predicted_s = duration_s};
    if (!(duration_s > 0) || !isfinite(duration_s))
        return false;
    struct place place = predict_find_place(model, &law, problem_size, executors, duration_s);
    if (u->observations == 0 || place.open)
        return true;
    if (!place.known) {
        *predictive = predict_off(&place, duration_s);
        return true;
    }
    predictive_add(predictive,
                   (struct predictive_part){PREDICTIVE_LOG_SCORES, place.widths, 0, &u->seen});
    predictive_add(predictive, (struct predictive_part){PREDICTIVE_STUDENT, place.half_s,
                                                        fit_freedom(u), NULL});
    predictive_add(predictive, (struct predictive_part){PREDICTIVE_LOG_STUDENT, place.repetition,
                                                        REPETITION_FREEDOM, NULL});
    return true;
}

void model_predict(const struct model *model,
                   const struct model_spread *spread,
                   double problem_size,
                   double executors,
                   struct model_prediction *out)
{
    const struct model_kind *kind = model->kind;
    const struct model_law law = model_law(model);
    bool speedups = model->form == MODEL_OF_SPEEDUPS;
    *out = (struct model_prediction){(double)NAN, (double)NAN, {(double)NAN, (double)NAN}, false};
    if (!speedups)
        out->duration_s = model_duration(model, problem_size, executors);
    bool nonsense = !speedups && !(out->duration_s > 0);
    if (nonsense)
        out->speedup = (double)NAN;
    else if (kind->speedup != NULL)
        out->speedup = kind->speedup(&law, problem_size, executors) *
                       model_correction(model, problem_size, 1) /
                       model_correction(model, problem_size, executors);
    else
        out->speedup = model_duration(model, problem_size, 1) / out->duration_s;
    if (!(out->speedup > 0))
        out->speedup = (double)NAN;
    if (model->uncertainty.observations == 0)
        return;
    struct place place = predict_find_place(model, &law, problem_size, executors, out->duration_s);
    out->extrapolated = place.widths > 1;
    if (out->duration_s > 0)
        set_interval(&place, spread, out);
}

/* --- best executors --- */

static double speed(const struct model *model, const struct model_law *law, double size, double m)
{
    if (law->form == MODEL_OF_DURATIONS)
        return -model_duration(model, size, m);
    return law->kind->speedup(law, size, m);
}

double
model_best_executors(const struct model *model, double problem_size, double most, bool *rising)
{
    const struct model_law law = model_law(model);
    double turns[MODEL_TURNS_MAX];
    size_t n = 0;
    if (model->kind->turning_points != NULL)
        n = model->kind->turning_points(&law, problem_size, turns);
    double best =
        speed(model, &law, problem_size, 1) >= speed(model, &law, problem_size, most) ? 1 : most;
    for (size_t i = 0; i < 2 * n; i++) {
        double m = i % 2 == 0 ? floor(turns[i / 2]) : ceil(turns[i / 2]);
        if (!(m >= 1) || m > most)
            continue;
        double gain = speed(model, &law, problem_size, m) - speed(model, &law, problem_size, best);
        if (gain > 0 || (gain == 0 && m < best))
            best = m;
    }
    if (rising != NULL)
        *rising = best == most && speed(model, &law, problem_size, most + 1) >
                                      speed(model, &law, problem_size, most);
    return best;
}
