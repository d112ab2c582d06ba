#include "core/deadline/explain.h"

#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"

/* --- feasibility --- */

/* The job with the least time left before its deadline; below 0 it is late. */
static size_t
find_tightest(const struct edf_job jobs[], const struct edf_outcome outcomes[], size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        if (jobs[i].deadline_s - outcomes[i].execution_s <
            jobs[at].deadline_s - outcomes[at].execution_s)
            at = i;
    return at;
}

static bool has_delays(const struct edf_job *job)
{
    for (size_t s = 0; s < job->n_stages; s++)
        if (job->stages[s].delay_s > 0)
            return true;
    return false;
}

/* A job is late with a core for every task. */
static void explain_too_long(const char *name,
                             const struct edf_job *job,
                             double critical_path_s,
                             struct findings *to)
{
    struct finding *none = finding_add(
        to, "no_cores_suffice",
        "No number of cores meets every deadline: the stages of %s, one after another, take %s"
        "%s, and its deadline is %s.",
        name, quantity_duration(critical_path_s).text,
        has_delays(job) ? " with its start-up and its driver's time" : "",
        quantity_duration(job->deadline_s).text);
    finding_text(none, "job", name);
    finding_number(none, "critical_path_s", critical_path_s);
    finding_number(none, "deadline_s", job->deadline_s);
}

/* too_long: the name of the job that is late with a core for every task. */
static void explain_remedies(const struct edf_job jobs[],
                             size_t n_jobs,
                             const char *too_long,
                             size_t cores,
                             const struct edf_remedies *remedies,
                             struct findings *to)
{
    if (remedies->has_min_total_cores) {
        struct finding *more =
            finding_add(to, "more_cores", "With %zu core%s instead of %zu every deadline is met.",
                        remedies->min_total_cores, PLURAL(remedies->min_total_cores), cores);
        finding_number(more, "min_total_cores", (double)remedies->min_total_cores);
        finding_number(more, "cores", (double)cores);
    } else if (remedies->too_long < n_jobs) {
        explain_too_long(too_long, &jobs[remedies->too_long], remedies->critical_path_s, to);
    } else if (remedies->exact) { /* critical paths fit: the cause is memory */
        (void)finding_add(to, "no_cores_suffice",
                          "No number of cores meets every deadline: some job's wait for memory and "
                          "its stages, one after another, take longer than its deadline allows.");
    } else {
        (void)finding_add(to, "search_cut",
                          "The search for enough cores was cut by its budget of simulated tasks.");
    }
}

void feasibility_explain(const struct strview names[],
                         const struct edf_job jobs[],
                         size_t n_jobs,
                         size_t cores,
                         const struct edf_outcome outcomes[],
                         const struct edf_metrics *metrics,
                         const struct edf_remedies *remedies,
                         struct findings *reasons)
{
    size_t at = find_tightest(jobs, outcomes, n_jobs);
    const char *name = arena_printf(reasons->arena, "%.*s", (int)names[at].n, names[at].at);
    double slack_s = jobs[at].deadline_s - outcomes[at].execution_s;
    double shown_s = quantity_slack_s(slack_s, jobs[at].deadline_s);
    char before[64];
    struct finding *first;
    if (name == NULL) {
        reasons->failed = true;
        return;
    }
    (void)snprintf(before, sizeof before, "%s before", quantity_duration(shown_s).text);
    if (metrics->delayed == 0)
        first = finding_add(reasons, "all_deadlines_met",
                            "Every job meets its deadline; %s comes closest, %s its deadline.",
                            name, shown_s > 0 ? before : "at");
    else if (n_jobs == 1)
        first = finding_add(reasons, "deadlines_missed", "%s misses its deadline by %s.", name,
                            quantity_duration(-shown_s).text);
    else
        first = finding_add(
            reasons, "deadlines_missed", "%zu of %zu job%s %s; %s is late by %s%s.",
            metrics->delayed, n_jobs, PLURAL(n_jobs),
            PLURAL_VERB(metrics->delayed, "misses its deadline", "miss their deadlines"), name,
            quantity_duration(-shown_s).text, metrics->delayed > 1 ? ", the most" : "");
    finding_text(first, "job", name);
    finding_number(first, "slack_s", slack_s);
    finding_number(first, "jobs", (double)n_jobs);
    finding_number(first, "missed", (double)metrics->delayed);
    if (!isnan(metrics->utilization)) {
        struct finding *use = finding_add(reasons, "cores_in_use",
                                          "%zu core%s %s %s of the %s from the first release to "
                                          "the last end.",
                                          cores, PLURAL(cores), PLURAL_VERB(cores, "works", "work"),
                                          quantity_share(metrics->utilization).text,
                                          quantity_duration(metrics->makespan_s).text);
        finding_number(use, "cores", (double)cores);
        finding_number(use, "utilization", metrics->utilization);
        finding_number(use, "makespan_s", metrics->makespan_s);
    }
    if (remedies == NULL)
        return;
    size_t late = remedies->too_long < n_jobs ? remedies->too_long : at;
    const char *too_long = arena_printf(reasons->arena, "%.*s", (int)names[late].n, names[late].at);
    reasons->failed = reasons->failed || too_long == NULL;
    if (too_long != NULL)
        explain_remedies(jobs, n_jobs, too_long, cores, remedies, reasons);
}

/* --- stage plans --- */

void stage_plan_explain(const struct stage_plan_terms *terms,
                        const struct stage_plan *plan,
                        struct findings *reasons)
{
    double cores = terms->executors * terms->cores_per_executor;
    size_t at = 0;
    size_t short_of = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        if (plan->steps[i].estimated_cores > plan->steps[at].estimated_cores)
            at = i;
        short_of += plan->steps[i].estimated_cores > cores;
    }
    if (plan->n_steps == 0)
        return;
    const struct stage_plan_step *most = &plan->steps[at];
    struct finding *first;
    if (short_of == 0)
        first = finding_add(reasons, "stages_fit",
                            "Every stage can end by its deadline with the cores there are (%s); "
                            "stage %lld needs most, %s.",
                            quantity_digits(cores, 15).text, (long long)most->id,
                            quantity_digits(most->estimated_cores, 15).text);
    else if (isfinite(most->estimated_cores))
        first = finding_add(reasons, "too_few_cores",
                            "%zu of %zu stage%s %s more cores than there are (%s); stage %lld "
                            "needs most, %s.",
                            short_of, plan->n_steps, PLURAL(plan->n_steps),
                            PLURAL_VERB(short_of, "needs", "need"), quantity_digits(cores, 15).text,
                            (long long)most->id, quantity_digits(most->estimated_cores, 15).text);
    else
        first = finding_add(reasons, "too_few_cores",
                            "%zu of %zu stage%s %s more cores than there are (%s); for stage "
                            "%lld %s no time, so that no number is enough.",
                            short_of, plan->n_steps, PLURAL(plan->n_steps),
                            PLURAL_VERB(short_of, "needs", "need"), quantity_digits(cores, 15).text,
                            (long long)most->id,
                            plan->fixed_s >= terms->alpha * terms->deadline_s
                                ? "the start-up and the driver's time leave"
                                : "the pinned deadlines leave");
    finding_number(first, "stage", (double)most->id);
    finding_number(first, "estimated_cores", most->estimated_cores);
    finding_number(first, "cores", cores);
    finding_number(first, "stages_short_of_cores", (double)short_of);
    if (plan->fixed_s > 0)
        finding_number(first, "fixed_s", plan->fixed_s);
    if (!plan->feasible && (short_of == 0 || plan->end_s > terms->deadline_s * (1 + 1e-9))) {
        struct finding *late = finding_add(
            reasons, "deadline_exceeded",
            "The deadlines of the stages%s add up to %s, more than the %s of the "
            "application.",
            plan->fixed_s > 0 ? ", the start-up and the driver's time" : "",
            quantity_duration(plan->end_s).text, quantity_duration(terms->deadline_s).text);
        finding_number(late, "end_s", plan->end_s);
        finding_number(late, "deadline_s", terms->deadline_s);
    }
}

/* --- contention --- */

void contention_explain(const struct contention_strategy *strategy,
                        const struct contention_terms *terms,
                        const struct contention_outcome *outcome,
                        struct findings *reasons)
{
    struct finding *first;
    double asked = outcome->requested_cores;
    if (outcome->contention)
        first =
            finding_add(reasons, "contention",
                        "%s core%s %s requested, and there are %s: the strategy %s shares "
                        "out all of them.",
                        quantity_number(asked).text, PLURAL(asked), PLURAL_VERB(asked, "is", "are"),
                        quantity_number(terms->max_cores).text, strategy->name);
    else if (outcome->requested_cores > 0)
        first =
            finding_add(reasons, "no_contention",
                        "%s core%s %s requested, and there are %s: each application can "
                        "have what it requests.",
                        quantity_number(asked).text, PLURAL(asked), PLURAL_VERB(asked, "is", "are"),
                        quantity_number(terms->max_cores).text);
    else
        first = finding_add(reasons, "nothing_requested", "No application requests a core.");
    finding_number(first, "requested_cores", outcome->requested_cores);
    finding_number(first, "max_cores", terms->max_cores);
    if (outcome->contention || !(outcome->requested_cores > 0) || !(terms->gamma > 0))
        return;
    struct finding *more = finding_add(
        reasons, "saturating", "With gamma %s the strategy %s shares out the idle cores, too.",
        quantity_number(terms->gamma).text, strategy->name);
    finding_number(more, "gamma", terms->gamma);
}

/* --- memory plan --- */

void worker_memory_warn(const struct strview names[],
                        const struct worker_memory_application applications[],
                        size_t n,
                        int64_t system_bytes,
                        const struct worker_memory *plan,
                        struct findings *warnings)
{
    size_t never = 0;
    size_t first = 0;
    for (size_t i = n; i-- > 0;)
        if (applications[i].heap_bytes > system_bytes) {
            never++;
            first = i;
        }
    struct finding *warning = NULL;
    if (never == 1)
        warning =
            finding_add(warnings, "heap_exceeds_memory",
                        "%.*s never starts: its heap is larger than the memory of the worker.",
                        (int)names[first].n, names[first].at);
    else if (never > 1)
        warning = finding_add(warnings, "heap_exceeds_memory",
                              "%zu application%s never start, such as %.*s: their heaps are larger "
                              "than the memory of the worker.",
                              never, PLURAL(never), (int)names[first].n, names[first].at);
    finding_count(warning, never);
    if (plan->users > 0 && plan->each_bytes == 0) {
        warning =
            finding_add(warnings, "no_off_heap_memory",
                        "The heaps leave no memory for %zu application%s that use off-heap memory.",
                        plan->users, PLURAL(plan->users));
        finding_count(warning, plan->users);
    }
}
