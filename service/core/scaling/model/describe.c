#include "core/scaling/model/describe.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/scaling/model/predict.h"

void model_describe(const struct model *model, struct findings *findings)
{
    if (model->kind->describe != NULL)
        model->kind->describe(model, findings);
}

static struct model_prediction describe_predict(const struct model *model, double size, double m)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model bare = *model;
    struct model_prediction there;
    bare.uncertainty.observations = 0;
    model_predict(&bare, &none, size, m, &there);
    return there;
}

bool describe_corner(const struct model *model, double *problem_size, double *executors)
{
    *problem_size = model->uncertainty.problem_size[1];
    *executors = model->uncertainty.executors[1];
    return *problem_size > 0 && *executors >= 1;
}

void describe_limit(struct findings *findings, const char *what, double limit, double half_at)
{
    if (!isfinite(limit)) {
        (void)finding_add(findings, "no_limit",
                          "Nothing of %s is serial: the law sets the speedup no limit.", what);
        return;
    }
    struct finding *finding = finding_add(
        findings, "speedup_limit",
        "However many executors, %s does not become more than %s times as fast; half of that is "
        "there on %s executor%s.",
        what, quantity_number(limit).text, quantity_number(fmax(1, half_at)).text,
        PLURAL(fmax(1, half_at)));
    finding_number(finding, "speedup_limit", limit);
    finding_number(finding, "half_at_executors", fmax(1, half_at));
}

/* A law that falls below zero has its "best" where it says nothing any more. */
static void describe_below_zero(struct findings *findings, double size, double executors)
{
    struct finding *finding =
        finding_add(findings, "below_zero",
                    "At problem size %s the law gives no time above zero on %s executor%s: it "
                    "does not hold there.",
                    quantity_number(size).text, quantity_number(executors).text, PLURAL(executors));
    finding_number(finding, "problem_size", size);
    finding_number(finding, "executors", executors);
}

void describe_peak(const struct model *model, struct findings *findings)
{
    double size;
    double most_seen;
    bool rising;
    if (!describe_corner(model, &size, &most_seen))
        return;
    double most = fmax(1, floor(size));
    double m = model_best_executors(model, size, most, &rising);
    struct model_prediction there = describe_predict(model, size, m);
    struct finding *finding;
    if (there.duration_s <= 0) {
        describe_below_zero(findings, size, m);
        return;
    }
    if (m >= most)
        finding =
            finding_add(findings, "no_peak",
                        "At problem size %s every executor up to the %s that it can use makes "
                        "it faster%s.",
                        quantity_number(size).text, quantity_number(most).text,
                        most > most_seen ? ", though no run used as many" : "");
    else
        finding =
            finding_add(findings, "peak",
                        "At problem size %s the best is %s executor%s%s; more make it slower.",
                        quantity_number(size).text, quantity_number(m).text, PLURAL(m),
                        m > most_seen ? ", more than any run used" : "");
    finding_number(finding, "problem_size", size);
    finding_number(finding, "executors", m);
    finding_number(finding, "duration_s", there.duration_s);
    finding_number(finding, "speedup", there.speedup);
}

void describe_doubling(const struct model *model, struct findings *findings)
{
    double size;
    double m;
    if (model->form == MODEL_OF_SPEEDUPS || !describe_corner(model, &size, &m))
        return;
    double now_s = describe_predict(model, size, m).duration_s;
    double then_s = describe_predict(model, size, 2 * m).duration_s;
    if (!(now_s > 0) || !(then_s > 0))
        return;
    double saved = 100 * (1 - then_s / now_s);
    struct finding *finding =
        finding_add(findings, "doubling",
                    saved >= 0 ? "At problem size %s, %s executors instead of %s save %s of the "
                                 "time, where halving it would be ideal."
                               : "At problem size %s, %s executors instead of %s take %s longer.",
                    quantity_number(size).text, quantity_count(2 * m).text, quantity_count(m).text,
                    quantity_percent(fabs(saved)).text);
    finding_number(finding, "executors", m);
    finding_number(finding, "duration_s", now_s);
    finding_number(finding, "doubled_duration_s", then_s);
    finding_number(finding, "saved_percent", saved);
}

void describe_parts(struct findings *findings, const struct describe_part parts[], size_t n)
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
    struct finding *finding =
        finding_add(findings, "largest_part",
                    "On the most executors and the largest problem seen, %s is the largest part of "
                    "the time: %s of %s.",
                    parts[largest].what, quantity_number(parts[largest].seconds).text,
                    quantity_duration(sum).text);
    for (size_t i = 0; i < n; i++)
        finding_number(finding, parts[i].name, parts[i].seconds);
}
