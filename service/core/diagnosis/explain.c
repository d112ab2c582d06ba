#include "core/diagnosis/explain.h"

#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"

const char *diagnosis_trend_name(enum diagnosis_trend trend)
{
    switch (trend) {
    case DIAGNOSIS_UNCLEAR:
        return "unclear";
    case DIAGNOSIS_LINEAR:
        return "linear";
    case DIAGNOSIS_RISES:
        return "rises";
    case DIAGNOSIS_LEVELS_OFF:
        return "levels_off";
    case DIAGNOSIS_PEAKS:
        return "peaks";
    }
    return "unclear";
}

/* --- the six steps --- */

static void describe_workload(const struct diagnosis_slice *slice, struct findings *steps)
{
    struct finding *step;
    if (slice->workload == IPSO_FIXED_SIZE) {
        step = finding_add(steps, "workload",
                           "all runs have problem size %s: a fixed-size workload, more executors "
                           "share the same work",
                           quantity_number(slice->problem_size).text);
        finding_number(step, "problem_size", slice->problem_size);
    } else {
        step = finding_add(steps, "workload",
                           "each executor gets %s task%s of the first stage in all runs: a "
                           "fixed-time workload, which grows with the executors",
                           quantity_number(slice->load).text, PLURAL(slice->load));
        finding_number(step, "load_per_executor", slice->load);
    }
}

static void describe_measurements(const struct diagnosis_slice *slice, struct findings *steps)
{
    const struct diagnosis_point *first = &slice->points[0];
    const struct diagnosis_point *last = &slice->points[slice->n_points - 1];
    double ideal = last->executors / first->executors;
    struct finding *step =
        finding_add(steps, "measurements",
                    "%zu run%s on %zu executor count%s; from %s to %s executors, %s times "
                    "as many, work "
                    "is done %s times as fast",
                    slice->runs, PLURAL(slice->runs), slice->n_points, PLURAL(slice->n_points),
                    quantity_number(first->executors).text, quantity_number(last->executors).text,
                    quantity_number(ideal).text, quantity_number(last->relative_speedup).text);
    finding_number(step, "runs", (double)slice->runs);
    finding_number(step, "executors_ratio", ideal);
    finding_number(step, "relative_speedup", last->relative_speedup);
    finding_number(step, "fastest_executors", slice->fastest);
}

static void describe_curve(const struct diagnosis_slice *slice, struct findings *steps)
{
    struct finding *step;
    if (slice->of_stages) {
        step = finding_add(steps, "curve",
                           "the busiest executor works %s n^%s s, and of the work on one "
                           "executor %s can be shared",
                           quantity_number(slice->ipso.parameters[IPSO_TASK_TIME].value).text,
                           quantity_number(slice->ipso.parameters[IPSO_TASK_EXPONENT].value).text,
                           quantity_share(slice->ipso.parameters[IPSO_ETA].value).text);
        finding_number(step, "eta", slice->ipso.parameters[IPSO_ETA].value);
        finding_number(step, "task_exponent", slice->ipso.parameters[IPSO_TASK_EXPONENT].value);
        return;
    }
    step = finding_add(steps, "curve",
                       "what a task costs in executor seconds grows as %s + %s n^%s; the "
                       "speedup is n over that",
                       quantity_number(slice->cost.offset).text,
                       quantity_number(slice->cost.coefficient).text,
                       quantity_number(slice->cost.exponent).text);
    finding_number(step, "cost_exponent", slice->cost.exponent);
}

static void describe_trend(const struct diagnosis_slice *slice, struct findings *steps)
{
    struct finding *step = NULL;
    switch (slice->trend) {
    case DIAGNOSIS_UNCLEAR:
        (void)finding_add(steps, "trend", "these runs leave open how the speedup goes on");
        break;
    case DIAGNOSIS_LINEAR:
        (void)finding_add(steps, "trend",
                          "the speedup grows as the executors do, as Gustafson's law has it");
        break;
    case DIAGNOSIS_RISES:
        (void)finding_add(steps, "trend",
                          "the speedup grows without bound, but slower than the executors do");
        break;
    case DIAGNOSIS_LEVELS_OFF:
        step = isnan(slice->bound)
                   ? finding_add(steps, "trend", "the speedup levels off: it has an upper bound")
                   : finding_add(steps, "trend",
                                 "the speedup levels off: it stays below %s however many executors",
                                 quantity_number(slice->bound).text);
        finding_number(step, "speedup_bound", slice->bound);
        break;
    case DIAGNOSIS_PEAKS:
        step = finding_add(steps, "trend",
                           "the speedup peaks at %s executor%s and falls; more than that does "
                           "harm",
                           quantity_number(slice->peak).text, PLURAL(slice->peak));
        finding_number(step, "executors", slice->peak);
        break;
    }
}

static void describe_type(const struct diagnosis_slice *slice, struct findings *steps)
{
    static const char *const meaning[] = {
        "the intervals of its exponents leave open which",
        "no work is serial in proportion and scale-out induces none that grows",
        "overhead or serial work grows, but slower than the executors",
        "serial work grows with the problem, or overhead as fast as the executors",
        "the overhead of scale-out grows faster than the executors",
    };
    bool amdahl = slice->workload == IPSO_FIXED_SIZE && slice->trend == DIAGNOSIS_LEVELS_OFF;
    (void)finding_add(steps, "type", "type %s: %s", slice->type,
                      amdahl ? "what cannot be shared, or overhead that grows as fast as the "
                               "executors, sets the bound"
                             : meaning[slice->trend]);
}

enum { WORDS_OF_EXPONENT = 3 * QUANTITY_TEXT_MAX + 8 };

/* "0.31 (0.28 to 0.34)" */
static void write_exponent(const struct ipso_estimate *exponent, char out[WORDS_OF_EXPONENT])
{
    if (isnan(exponent->interval[0]))
        (void)snprintf(out, WORDS_OF_EXPONENT, "%s", quantity_number(exponent->value).text);
    else
        (void)snprintf(out, WORDS_OF_EXPONENT, "%s (%s to %s)",
                       quantity_number(exponent->value).text,
                       quantity_number(exponent->interval[0]).text,
                       quantity_number(exponent->interval[1]).text);
}

static void describe_exponents(const struct diagnosis_slice *slice, struct findings *steps)
{
    char delta[WORDS_OF_EXPONENT];
    char gamma[WORDS_OF_EXPONENT];
    struct finding *step;
    if (!slice->of_stages && slice->runs_with_stages < slice->runs) {
        (void)finding_add(
            steps, "exponents",
            "whole durations do not separate serial work from overhead: delta and gamma "
            "need the stages of the runs (send event logs)");
        return;
    }
    if (!slice->of_stages) {
        (void)finding_add(steps, "exponents", "delta and gamma are not given: %s",
                          slice->why_no_stages);
        return;
    }
    const struct ipso_estimate *d = &slice->ipso.parameters[IPSO_DELTA];
    const struct ipso_estimate *g = &slice->ipso.parameters[IPSO_GAMMA];
    write_exponent(d, delta);
    write_exponent(g, gamma);
    if (slice->ipso.serial)
        step =
            finding_add(steps, "exponents",
                        "parallel over serial work grows with exponent delta %s, the overhead of "
                        "scale-out with exponent gamma %s",
                        delta, gamma);
    else
        step = finding_add(steps, "exponents",
                           "there is no serial part; the overhead of scale-out grows with exponent "
                           "gamma %s",
                           gamma);
    finding_number(step, "alpha", slice->ipso.parameters[IPSO_ALPHA].value);
    finding_number(step, "delta", d->value);
    finding_number(step, "beta", slice->ipso.parameters[IPSO_BETA].value);
    finding_number(step, "gamma", g->value);
}

void diagnosis_explain_steps(const struct diagnosis_slice *slice, struct findings *steps)
{
    describe_workload(slice, steps);
    describe_measurements(slice, steps);
    describe_curve(slice, steps);
    describe_trend(slice, steps);
    describe_type(slice, steps);
    describe_exponents(slice, steps);
}

/* --- causes --- */

struct cause {
    const char *code;
    const char *what;
    double first; /* shares */
    double last;
};

static void sort_causes(struct cause causes[], size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct cause moving = causes[i];
        size_t at = i;
        for (; at > 0 && causes[at - 1].last < moving.last; at--)
            causes[at] = causes[at - 1];
        causes[at] = moving;
    }
}

static const struct diagnosis_point *find_shared(const struct diagnosis_slice *slice, bool last)
{
    const struct diagnosis_point *found = NULL;
    for (size_t i = 0; i < slice->n_points; i++)
        if (!isnan(slice->points[i].useful) && (found == NULL || last))
            found = &slice->points[i];
    return found;
}

static void describe_step(const struct step *found, struct findings *causes)
{
    if (!found->found)
        return;
    struct finding *step = finding_add(
        causes, "memory_overflow",
        "between %s and %s executor%s serial work jumps by %.0f %% and then grows "
        "by %s instead of %s an executor: what is merged no longer fits into memory",
        quantity_number(found->last_before).text, quantity_number(found->first_after).text,
        PLURAL(found->first_after), found->jump_percent, quantity_number(found->after.slope).text,
        quantity_number(found->before.slope).text);
    finding_number(step, "executors", found->at);
    finding_number(step, "jump_percent", found->jump_percent);
    finding_number(step, "slope_before_s", found->before.slope);
    finding_number(step, "slope_after_s", found->after.slope);
}

void diagnosis_explain_causes(const struct diagnosis_slice *slice, struct findings *causes)
{
    /* Of the duration: runs of one configuration scatter by as much. */
    static const double worth_telling = 0.03;
    const struct diagnosis_point *first = find_shared(slice, false);
    const struct diagnosis_point *last = find_shared(slice, true);
    if (first == NULL || last == first)
        return;
    struct cause all[] = {
        {"serial_growth",
         slice->serial_stages > 0
             ? "no stage runs, or the longest task of a stage whose number of tasks does not grow "
               "with the executors: more executors do not shorten this"
             : "no stage runs and all executors wait",
         first->serial, last->serial},
        {"scale_out_overhead",
         "stages last beyond the tasks of their busiest core (scheduling, "
         "data movement)",
         first->overhead, last->overhead},
        {"stragglers",
         "the busiest executor has more than its share (stragglers, an unfilled last "
         "wave)",
         first->waiting, last->waiting},
        {"slower_tasks", "the same tasks take longer than on few executors (contention)",
         first->slowed, last->slowed},
        {"initialization", "executors are started before the first stage", first->initialize,
         last->initialize},
    };
    size_t n = sizeof all / sizeof *all;
    sort_causes(all, n);
    for (size_t i = 0; i < n; i++) {
        if (all[i].last < worth_telling)
            continue;
        struct finding *cause =
            finding_add(causes, all[i].code, "%s of the time on %s executor%s, %s on %s: %s",
                        quantity_share(all[i].last).text, quantity_number(last->executors).text,
                        PLURAL(last->executors), quantity_share(all[i].first).text,
                        quantity_number(first->executors).text, all[i].what);
        finding_number(cause, "share", all[i].last);
        finding_number(cause, "share_at_fewest", all[i].first);
        finding_number(cause, "executors", last->executors);
        finding_number(cause, "fewest_executors", first->executors);
    }
    if (slice->of_stages)
        describe_step(&slice->ipso.step, causes);
}

/* --- loads --- */

void diagnosis_explain_load(const struct diagnosis_best_load *best, struct findings *findings)
{
    if (best->n == 0)
        return;
    const struct diagnosis_load *top = &best->loads[best->best];
    struct finding *finding =
        finding_add(findings, "best_load",
                    "an executor does most with %s task%s of the first stage, of %zu load%s that "
                    "%s run on the same executor counts",
                    quantity_number(top->load).text, PLURAL(top->load), best->n, PLURAL(best->n),
                    PLURAL_VERB(best->n, "was", "were"));
    finding_number(finding, "load_per_executor", top->load);
    if (!best->limited) {
        (void)finding_add(findings, "no_limit",
                          best->best + 1 == best->n
                              ? "it is the largest load that was run: a larger one may be better"
                              : "larger loads are about as good");
        return;
    }
    const struct diagnosis_load *beyond = &best->loads[best->limit];
    finding = finding_add(
        findings, best->spills ? "memory_limit" : "load_limit",
        "with %s task%s an executor does only %s of that%s", quantity_number(beyond->load).text,
        PLURAL(beyond->load), quantity_share(beyond->throughput).text,
        best->spills ? ", and its runs spill to disk: the memory of an executor ends there"
        : isnan(beyond->spilled)
            ? "; whether they spilled to disk is not known, event logs would show it"
            : "; its runs do not spill more, so it is something other than memory");
    finding_number(finding, "load_per_executor", beyond->load);
    finding_number(finding, "throughput", beyond->throughput);
    finding_number(finding, "spilled", beyond->spilled);
    if (best->step.found)
        finding_number(finding, "jump_percent", best->step.jump_percent);
}

/* --- what is missing --- */

void diagnosis_explain_missing(const struct diagnosis *diagnosis,
                               size_t unmeasured,
                               struct findings *missing)
{
    struct finding *finding;
    if (diagnosis->n == 0) {
        finding =
            finding_add(missing, "series",
                        "How the application scales is seen in runs of one problem size, or "
                        "of one size per executor, on %d executor counts. The %zu run%s so far "
                        "%s not include such runs.",
                        DIAGNOSIS_COUNTS_LEAST, diagnosis->runs, PLURAL(diagnosis->runs),
                        PLURAL_VERB(diagnosis->runs, "does", "do"));
        finding_number(finding, "runs", (double)diagnosis->runs);
    }
    size_t lacking = diagnosis->runs - diagnosis->runs_with_stages;
    if (lacking > 0) {
        finding = finding_add(
            missing, "stages",
            "%zu of %zu run%s %s not show where the time of the stages went: "
            "tasks, durations, cores_per_executor or initialization_s are missing. "
            "For these the diagnosis shows what happens, but not why.",
            lacking, diagnosis->runs, PLURAL(diagnosis->runs), PLURAL_VERB(lacking, "does", "do"));
        finding_number(finding, "runs", (double)lacking);
    }
    if (unmeasured > 0) {
        finding = finding_add(missing, "unmeasured",
                              "The stages of %zu older run%s are not measured yet. Each request "
                              "measures some of them.",
                              unmeasured, PLURAL(unmeasured));
        finding_number(finding, "runs", (double)unmeasured);
    }
    if (diagnosis->best_load.n == 0)
        (void)finding_add(
            missing, "loads",
            "Loads of an executor cannot be compared: no executor count has runs of two problem "
            "sizes.");
}
