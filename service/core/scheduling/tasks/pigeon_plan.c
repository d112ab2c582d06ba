/*
 * Erlang's formulas (eqs 4.1 to 4.6). The probability to find all n servers of M/M/n/n busy is
 * 1 / B = 1 + n/a + n (n - 1)/a^2 + ..., with a = load x n: a sum of positive terms that rise until
 * n - k < a and fall from then on. It ends early, because the terms become too small to count or
 * their sum so large that B is 0: after O(sqrt n) terms.
 */
#include "core/scheduling/tasks/pigeon_plan.h"

#include <float.h>
#include <math.h>

#include "base/order.h"
#include "base/plural.h"
#include "base/quantity_text.h"
#include "base/rounding.h"

static double erlang_b(int64_t n, double load)
{
    double offered = load * (double)n;
    double sum = 1;
    double term = 1;
    for (int64_t k = 0; k < n; k++) {
        double ratio = (double)(n - k) / offered;
        term *= ratio;
        sum += term;
        if (!(sum < 1e300))
            return 0;
        /* What is left is less than a geometric series of this ratio. */
        if (ratio < 1 && term < (1 - ratio) * DBL_EPSILON / 4 * sum)
            break;
    }
    return 1 / sum;
}

/* Probability to wait in M/M/n. */
static double erlang_c(int64_t n, double load)
{
    double b = erlang_b(n, load);
    return b / (1 - load * (1 - b));
}

int64_t pigeon_reserved_workers(int64_t n, double share)
{
    int64_t reserved = (int64_t)rounding_floor(share * (double)n + 0.5);
    if (reserved < 1 && share > 0)
        reserved = 1;
    return reserved < n ? reserved : n - 1;
}

struct pigeon_candidate pigeon_candidate_of(const struct pigeon_terms *terms, int64_t group_size)
{
    double n = (double)group_size;
    double fanout = (double)terms->fanout;
    double wait = erlang_c(group_size, terms->load);
    double queuing_tasks = wait / (n * (1 - terms->load)); /* in task times */
    double none_waits = exp(fanout * log1p(-wait));
    int64_t groups = terms->workers / group_size;
    return (struct pigeon_candidate){
        .group_size = group_size,
        .groups = groups,
        .leftover_workers = terms->workers - groups * group_size,
        .reserved_workers = pigeon_reserved_workers(group_size, terms->reserved_share),
        .task_zero_queuing = 1 - wait,
        .queuing_s = queuing_tasks * terms->task_s,
        .job_equal = none_waits,
        .job_exponential = (1 - wait) * exp(-queuing_tasks),
        .master_tasks_per_s = terms->load * n / terms->task_s,
        .within_model = terms->fanout <= groups,
    };
}

double pigeon_probability(const struct pigeon_terms *terms,
                          const struct pigeon_candidate *candidate)
{
    return terms->equal_durations ? candidate->job_equal : candidate->job_exponential;
}

size_t pigeon_recommend(const struct pigeon_terms *terms,
                        const struct pigeon_candidate candidates[],
                        size_t n,
                        bool *meets)
{
    size_t best = 0;
    *meets = false;
    for (size_t i = 0; i < n; i++) {
        double here = pigeon_probability(terms, &candidates[i]);
        double there = pigeon_probability(terms, &candidates[best]);
        bool smaller = candidates[i].group_size < candidates[best].group_size;
        bool reaches =
            here >= terms->target_probability || rounding_equal(here, terms->target_probability);
        if (reaches ? !*meets || smaller
                    : !*meets && (rounding_equal(here, there) ? smaller : here > there))
            best = i;
        *meets = *meets || reaches;
    }
    return best;
}

double sparrow_zero_queuing(int64_t fanout, double load)
{
    double probes = 2 * (double)fanout;
    double odds = (1 - load) / load;
    double mode = fmin(probes, floor((probes + 1) * (1 - load)));
    double all = 0;
    double enough = 0;
    double term = 1; /* binomial terms, in those of the mode */
    for (double idle = mode; idle >= 0 && term > 0; idle--) {
        all += term;
        if (idle >= (double)fanout)
            enough += term;
        term *= idle / ((probes - idle + 1) * odds);
    }
    term = 1;
    for (double idle = mode + 1; idle <= probes && term > 0; idle++) {
        term *= (probes - idle + 1) / idle * odds;
        all += term;
        if (idle >= (double)fanout)
            enough += term;
    }
    return enough / all;
}

void pigeon_plan_warn(const struct pigeon_terms *terms,
                      const struct pigeon_candidate *recommended,
                      bool meets,
                      struct findings *warnings)
{
    struct finding *warning;
    double probability = pigeon_probability(terms, recommended);
    if (!meets) {
        warning =
            finding_add(warnings, "target_not_met",
                        "No group size reaches the probability %s that a job starts "
                        "without waiting; groups of %lld come closest, with %s.",
                        quantity_probability(terms->target_probability).text,
                        (long long)recommended->group_size, quantity_number(probability).text);
        finding_number(warning, "target_probability", terms->target_probability);
        finding_number(warning, "probability", probability);
    }
    if (!recommended->within_model) {
        warning = finding_add(warnings, "fanout_exceeds_groups",
                              "A job has %lld task%s, and there %s %lld group%s: some of its tasks "
                              "share a group, which the model leaves out of account, so that the "
                              "probabilities are too high.",
                              (long long)terms->fanout, PLURAL(terms->fanout),
                              PLURAL_VERB(recommended->groups, "is", "are"),
                              (long long)recommended->groups, PLURAL(recommended->groups));
        finding_number(warning, "fanout", (double)terms->fanout);
        finding_number(warning, "groups", (double)recommended->groups);
    }
    if (recommended->leftover_workers > 0) {
        warning = finding_add(warnings, "leftover_workers",
                              "%lld worker%s %s in no group of %lld; make some groups larger.",
                              (long long)recommended->leftover_workers,
                              PLURAL(recommended->leftover_workers),
                              PLURAL_VERB(recommended->leftover_workers, "is", "are"),
                              (long long)recommended->group_size);
        finding_count(warning, (size_t)recommended->leftover_workers);
    }
}
