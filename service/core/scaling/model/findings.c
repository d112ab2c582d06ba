#include "core/scaling/model/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/scaling/model/predict.h"

struct model_finding *
model_tell(struct model_account *account, const char *code, const char *format, ...)
{
    if (account->n == MODEL_FINDINGS_MAX)
        return NULL;
    struct model_finding *finding = &account->findings[account->n++];
    finding->n_evidence = 0;
    (void)snprintf(finding->code, sizeof finding->code, "%s", code);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(finding->message, sizeof finding->message, format, args);
    va_end(args);
    return finding;
}

void model_add_evidence(struct model_finding *finding, const char *name, double value)
{
    if (finding == NULL || finding->n_evidence == MODEL_EVIDENCE_MAX)
        return;
    finding->evidence[finding->n_evidence].name = name;
    finding->evidence[finding->n_evidence++].value = value;
}

void model_describe(const struct model *model, struct model_account *account)
{
    account->n = 0;
    if (model->kind->describe != NULL)
        model->kind->describe(model, account);
}

static struct model_prediction predict(const struct model *model, double size, double m)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model bare = *model;
    struct model_prediction there;
    bare.uncertainty.observations = 0;
    model_predict(&bare, &none, size, m, &there);
    return there;
}

bool account_find_corner(const struct model *model, double *problem_size, double *executors)
{
    *problem_size = model->uncertainty.problem_size[1];
    *executors = model->uncertainty.executors[1];
    return *problem_size >= 1 && *executors >= 1;
}

void account_tell_limit(struct model_account *account,
                        const char *what,
                        double limit,
                        double half_at)
{
    if (!isfinite(limit)) {
        (void)model_tell(account, "no_limit",
                         "Nothing of %s is serial: the law sets the speedup no limit.", what);
        return;
    }
    struct model_finding *finding = model_tell(
        account, "speedup_limit",
        "However many executors, %s does not become more than %.3g times as fast; half of that is "
        "there on %.3g executors.",
        what, limit, fmax(1, half_at));
    model_add_evidence(finding, "speedup_limit", limit);
    model_add_evidence(finding, "half_at_executors", fmax(1, half_at));
}

/* A law that falls below zero has its "best" where it says nothing any more. */
static void tell_below_zero(struct model_account *account, double size, double executors)
{
    struct model_finding *finding =
        model_tell(account, "below_zero",
                   "At problem size %g the law gives no time above zero on %g executors: it does "
                   "not hold there.",
                   size, executors);
    model_add_evidence(finding, "problem_size", size);
    model_add_evidence(finding, "executors", executors);
}

void account_tell_peak(const struct model *model, struct model_account *account)
{
    double size;
    double most_seen;
    bool rising;
    if (!account_find_corner(model, &size, &most_seen))
        return;
    double most = fmax(1, floor(size));
    double m = model_best_executors(model, size, most, &rising);
    struct model_prediction there = predict(model, size, m);
    struct model_finding *finding;
    if (there.duration_s <= 0) {
        tell_below_zero(account, size, m);
        return;
    }
    if (m >= most)
        finding = model_tell(account, "no_peak",
                             "At problem size %g every executor up to the %g that it can use makes "
                             "it faster%s.",
                             size, most, most > most_seen ? ", though no run used as many" : "");
    else
        finding = model_tell(account, "peak",
                             "At problem size %g the best is %g executors%s; more make it slower.",
                             size, m, m > most_seen ? ", more than any run used" : "");
    model_add_evidence(finding, "problem_size", size);
    model_add_evidence(finding, "executors", m);
    model_add_evidence(finding, "duration_s", there.duration_s);
    model_add_evidence(finding, "speedup", there.speedup);
}

void account_tell_doubling(const struct model *model, struct model_account *account)
{
    double size;
    double m;
    if (model->form == MODEL_OF_SPEEDUPS || !account_find_corner(model, &size, &m))
        return;
    double now_s = predict(model, size, m).duration_s;
    double then_s = predict(model, size, 2 * m).duration_s;
    if (!(now_s > 0) || !(then_s > 0))
        return;
    double saved = 100 * (1 - then_s / now_s);
    struct model_finding *finding = model_tell(
        account, "doubling",
        saved >= 0 ? "At problem size %g, %g executors instead of %g save %.2g %% of the "
                     "time, where halving it would be ideal."
                   : "At problem size %g, %g executors instead of %g take %.2g %% longer.",
        size, 2 * m, m, fabs(saved));
    model_add_evidence(finding, "executors", m);
    model_add_evidence(finding, "duration_s", now_s);
    model_add_evidence(finding, "doubled_duration_s", then_s);
    model_add_evidence(finding, "saved_percent", saved);
}

void account_tell_parts(struct model_account *account, const struct account_part parts[], size_t n)
{
    double sum = 0;
    size_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        sum += fmax(0, parts[i].seconds);
        if (parts[i].seconds > parts[largest].seconds)
            largest = i;
    }
    if (!(sum > 0) || !isfinite(sum))
        return;
    struct model_finding *finding =
        model_tell(account, "largest_part",
                   "On the most executors and the largest problem seen, %s is the largest part of "
                   "the time: %.3g of %.3g s.",
                   parts[largest].what, parts[largest].seconds, sum);
    for (size_t i = 0; i < n; i++)
        model_add_evidence(finding, parts[i].name, parts[i].seconds);
}
