#include <inttypes.h>
#include <math.h>

#include "base/plural.h"
#include "codec/history/source_run.h"
#include "codec/scheduling/slot_plan.h"

static void encode_split(struct writer *w, const struct fresh_split *split)
{
    writer_member_integer(w, "map_slots", (int64_t)split->map_slots);
    writer_member_integer(w, "reduce_slots", (int64_t)split->reduce_slots);
    writer_member_number(w, "makespan_s", split->makespan_s);
    writer_member_number(w, "simulated_makespan_s", split->simulated_s);
}

/* --- jobs --- */

static void encode_profile(struct writer *w, const struct codec_slot_plan_job *job)
{
    const struct map_reduce *tasks = &job->profile->tasks;
    writer_member_object(w, "profile");
    writer_member_text(w, "application", job->application);
    writer_member_integer(w, "maps", tasks->maps);
    writer_member_number(w, "map_task_s", tasks->map_task_s);
    writer_member_integer(w, "reduces", tasks->reduces);
    writer_member_number(w, "reduce_task_s", tasks->reduce_task_s);
    codec_source_runs_encode(w, job->profile->runs, job->profile->n_runs);
    writer_end_object(w);
}

static void
encode_jobs(struct writer *w, const struct codec_slot_plan *asked, const struct fresh_plan *plan)
{
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < asked->n_jobs; i++) {
        const struct fresh_job_times *times = &plan->times[i];
        writer_begin_object(w);
        writer_member_text(w, "name", asked->jobs[i].name);
        writer_member_number(w, "start_s", times->start_s);
        writer_member_number(w, "map_end_s", times->map_end_s);
        writer_member_number(w, "reduce_start_s", times->reduce_start_s);
        writer_member_number(w, "finish_s", times->finish_s);
        if (asked->jobs[i].profile != NULL)
            encode_profile(w, &asked->jobs[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
}

/* --- splits, and what they depend on --- */

static void encode_splits(struct writer *w, size_t slots, const struct fresh_plan *plan)
{
    writer_member_array(w, "splits");
    for (size_t i = 0; i < plan->n_splits; i++) {
        double simulated_s = plan->simulated_s[i];
        struct fresh_split split = {i + 1, slots - i - 1, plan->makespan_s[i],
                                    isfinite(simulated_s) ? simulated_s : (double)NAN};
        writer_begin_object(w);
        encode_split(w, &split);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_split_or_null(struct writer *w, const char *key, const struct fresh_split *split)
{
    if (!writer_member_object_or_null(w, key, split->map_slots > 0))
        return;
    encode_split(w, split);
    writer_end_object(w);
}

static void encode_sweep(struct writer *w, const struct fresh_plan *plan)
{
    writer_member_array(w, "sweep");
    for (size_t i = 0; i < plan->n_sweep; i++) {
        const struct fresh_sweep_point *point = &plan->sweep[i];
        writer_begin_object(w);
        writer_member_integer(w, "concurrency", (int64_t)point->concurrency);
        encode_split(w, &point->best);
        writer_member_number(w, "fairness", point->fairness);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_sensitivity(struct writer *w, const struct fresh_plan *plan)
{
    writer_member_array(w, "sensitivity");
    for (size_t i = 0; i < FRESH_SENSITIVITIES; i++) {
        const struct fresh_sensitivity *found = &plan->sensitivity[i];
        writer_begin_object(w);
        writer_member_number(w, "map_factor", found->map_factor);
        writer_member_number(w, "reduce_factor", found->reduce_factor);
        writer_member_integer(w, "best_map_slots", (int64_t)found->best_map_slots);
        writer_member_number(w, "best_makespan_s", found->best_makespan_s);
        writer_member_number(w, "makespan_s", found->makespan_s);
        writer_member_number(w, "regret_percent", found->regret_percent);
        writer_end_object(w);
    }
    writer_end_array(w);
}

void codec_slot_plan_encode(struct writer *w,
                            const struct codec_slot_plan *asked,
                            const struct fresh_plan *plan,
                            const struct findings *warnings)
{
    writer_begin_object(w);
    encode_split(w, &plan->best);
    writer_member_string(w, "basis", plan->is_simulated ? "simulation" : "fluid");
    encode_split_or_null(w, "best_simulated", &plan->best_simulated);
    writer_member_number(w, "fairness", plan->fairness);
    writer_member_array(w, "order");
    for (size_t i = 0; i < asked->n_jobs; i++)
        writer_text(w, asked->jobs[plan->order[i]].name);
    writer_end_array(w);
    encode_jobs(w, asked, plan);
    encode_splits(w, asked->slots, plan);
    if (asked->nodes != SIZE_MAX)
        encode_split_or_null(w, "per_node", &plan->per_node);
    if (asked->n_sweep > 0)
        encode_sweep(w, plan);
    if (!isnan(asked->profile_error_percent))
        encode_sensitivity(w, plan);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}

/* --- warnings --- */

/* Whether an earlier job is of the same application. */
static bool is_repeated(const struct codec_slot_plan *asked, size_t job)
{
    for (size_t i = 0; i < job; i++)
        if (asked->jobs[i].profile == asked->jobs[job].profile)
            return true;
    return false;
}

static void warn_changed(const struct codec_slot_plan *asked, struct findings *warnings)
{
    for (size_t i = 0; i < asked->n_jobs; i++) {
        const struct codec_slot_plan_job *job = &asked->jobs[i];
        if (job->profile == NULL || !job->profile->graph_changed || is_repeated(asked, i))
            continue;
        struct finding *finding = finding_add(
            warnings, "graph_changed",
            "Recent runs of %s have other stages than the latest one and were left out: "
            "its profile is drawn from %zu run%s.",
            job->application.at, job->profile->n_runs, PLURAL(job->profile->n_runs));
        finding_text(finding, "application", job->application.at);
        finding_number(finding, "runs", (double)job->profile->n_runs);
    }
}

void codec_slot_plan_warn(const struct codec_slot_plan *asked,
                          const struct fresh_plan *plan,
                          struct findings *warnings)
{
    if (asked->nodes != SIZE_MAX && plan->per_node.map_slots == 0)
        finding_number(
            finding_add(warnings, "no_split_per_node",
                        "No split leaves each of %zu nodes as many map slots, and as many "
                        "reduce slots, as the others: per_node is null.",
                        asked->nodes),
            "nodes", (double)asked->nodes);
    warn_changed(asked, warnings);
}
