#include "codec/models/diagnosis.h"

#include <math.h>

#include "codec/json/finding.h"
#include "core/diagnosis/explain.h"

/* --- a series --- */

static void encode_estimate(struct writer *w, const char *key, const struct ipso_estimate *estimate)
{
    if (isnan(estimate->value))
        return;
    writer_member_object(w, key);
    writer_member_number(w, "estimate", estimate->value);
    writer_member_number(w, "std_error", estimate->std_error);
    writer_member_pair(w, "interval", estimate->interval);
    writer_end_object(w);
}

/* Of the cost of a task, where only durations are known. */
static struct ipso_estimate cost_exponent(const struct growth *cost)
{
    double variance = cost->covariance[GROWTH_EXPONENT][GROWTH_EXPONENT];
    double reach = growth_reach(variance, cost->freedom);
    return (struct ipso_estimate){.value = cost->exponent,
                                  .std_error = sqrt(variance),
                                  .freedom = cost->freedom,
                                  .interval = {cost->exponent - reach, cost->exponent + reach}};
}

static void encode_parameters(struct writer *w, const struct diagnosis_slice *slice)
{
    static const struct {
        const char *name;
        enum ipso_parameter at;
    } parameters[] = {{"eta", IPSO_ETA},
                      {"alpha", IPSO_ALPHA},
                      {"delta", IPSO_DELTA},
                      {"beta", IPSO_BETA},
                      {"gamma", IPSO_GAMMA},
                      {"task_time_s", IPSO_TASK_TIME},
                      {"task_exponent", IPSO_TASK_EXPONENT}};
    writer_member_object(w, "parameters");
    if (slice->of_stages) {
        for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
            encode_estimate(w, parameters[i].name, &slice->ipso.parameters[parameters[i].at]);
    } else {
        struct ipso_estimate exponent = cost_exponent(&slice->cost);
        encode_estimate(w, "cost_exponent", &exponent);
    }
    writer_end_object(w);
}

static void encode_step(struct writer *w, const struct step *step, double unit)
{
    if (!writer_member_object_or_null(w, "step", step->found))
        return;
    writer_member_number(w, "last_before", step->last_before);
    writer_member_number(w, "first_after", step->first_after);
    writer_member_number(w, "slope_before", step->before.slope / unit);
    writer_member_number(w, "slope_after", step->after.slope / unit);
    writer_member_number(w, "jump_percent", step->jump_percent);
    writer_member_number(w, "p_value", step->p_value);
    writer_end_object(w);
}

static void encode_point(struct writer *w, const struct diagnosis_point *point)
{
    writer_begin_object(w);
    writer_member_number(w, "executors", point->executors);
    writer_member_integer(w, "runs", (int64_t)point->runs);
    writer_member_number(w, "duration_s", point->duration_s);
    writer_member_number(w, "relative_speedup", point->relative_speedup);
    if (writer_member_object_or_null(w, "time_shares", !isnan(point->useful))) {
        writer_member_number(w, "useful", point->useful);
        writer_member_number(w, "slower_tasks", point->slowed);
        writer_member_number(w, "stragglers", point->waiting);
        writer_member_number(w, "serial", point->serial);
        writer_member_number(w, "overhead", point->overhead);
        writer_member_number(w, "initialization", point->initialize);
        writer_end_object(w);
    }
    writer_end_object(w);
}

static void encode_peak(struct writer *w, const struct diagnosis_slice *slice)
{
    if (!writer_member_object_or_null(w, "peak", !isnan(slice->peak)))
        return;
    writer_member_number(w, "executors", slice->peak);
    writer_member_number(w, "speedup", slice->of_stages ? slice->ipso.peak.speedup : (double)NAN);
    writer_member_boolean(w, "within_observed",
                          slice->peak <= slice->points[slice->n_points - 1].executors);
    writer_end_object(w);
}

static void encode_slice(struct writer *w, const struct diagnosis_slice *slice)
{
    struct findings causes = {.arena = w->arena};
    struct findings steps = {.arena = w->arena};
    double serial_s = slice->ipso.step.before.offset + slice->ipso.step.before.slope;
    writer_begin_object(w);
    writer_member_string(w, "workload_type",
                         slice->workload == IPSO_FIXED_SIZE ? "fixed_size" : "fixed_time");
    unsigned digits = writer_set_digits(w, 0); /* as the runs have it */
    writer_member_number(w, "problem_size", slice->problem_size);
    w->digits = digits;
    writer_member_number(w, "load_per_executor", slice->load);
    writer_member_integer(w, "runs", (int64_t)slice->runs);
    writer_member_integer(w, "runs_with_stages", (int64_t)slice->runs_with_stages);
    writer_member_string(w, "basis", slice->of_stages ? "stages" : "durations");
    writer_member_string(w, "basis_reason", slice->of_stages ? NULL : slice->why_no_stages);
    writer_member_string(w, "scaling_type", slice->type);
    writer_member_string(w, "trend", diagnosis_trend_name(slice->trend));
    encode_parameters(w, slice);
    encode_peak(w, slice);
    writer_member_number(w, "speedup_bound", slice->bound);
    writer_member_number(w, "fastest_executors", slice->fastest);
    encode_step(w, &slice->ipso.step, serial_s);
    diagnosis_explain_causes(slice, &causes);
    codec_findings_encode(w, "causes", &causes);
    diagnosis_explain_steps(slice, &steps);
    codec_findings_encode(w, "procedure", &steps);
    writer_member_array(w, "points");
    for (size_t i = 0; i < slice->n_points; i++)
        encode_point(w, &slice->points[i]);
    writer_end_array(w);
    writer_end_object(w);
}

/* --- loads --- */

static void encode_best_load(struct writer *w, const struct diagnosis_best_load *best)
{
    struct findings findings = {.arena = w->arena};
    if (!writer_member_object_or_null(w, "best_load", best->n > 0))
        return;
    writer_member_number(w, "load_per_executor", best->loads[best->best].load);
    writer_member_number(w, "limit_load_per_executor",
                         best->limited ? best->loads[best->limit].load : (double)NAN);
    writer_member_boolean(w, "memory", best->spills);
    encode_step(w, &best->step, 1);
    diagnosis_explain_load(best, &findings);
    codec_findings_encode(w, "findings", &findings);
    writer_member_array(w, "loads");
    for (size_t l = 0; l < best->n; l++) {
        writer_begin_object(w);
        writer_member_number(w, "load_per_executor", best->loads[l].load);
        writer_member_integer(w, "runs", (int64_t)best->loads[l].runs);
        writer_member_number(w, "throughput", best->loads[l].throughput);
        writer_member_number(w, "spilled", best->loads[l].spilled);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

/* --- bottlenecks of a run --- */

static void encode_cure(struct writer *w, const struct bottleneck *item, int64_t cores)
{
    const char *key = NULL, *value = NULL;
    writer_member_string(w, "cure", item->cure);
    writer_member_object(w, "properties");
    if (bottleneck_property(item, cores, w->arena, &key, &value) && value != NULL)
        writer_member_string(w, key, value);
    writer_end_object(w);
}

static void encode_bottleneck(struct writer *w, const struct bottleneck *item, int64_t cores)
{
    writer_begin_object(w);
    writer_member_string(w, "kind", bottleneck_kind_name(item->kind));
    if (item->stage_id == RUN_UNKNOWN)
        writer_member_null(w, "stage_id");
    else
        writer_member_integer(w, "stage_id", item->stage_id);
    writer_member_text(w, "stage_name", item->stage_name);
    writer_member_number(w, "lost_s", item->lost_s);
    writer_member_number(w, "lost_percent", 100 * item->lost_share);
    writer_member_boolean(w, "more_executors_help", item->more_executors_help);
    encode_cure(w, item, cores);
    writer_key(w, "finding");
    codec_finding_encode(w, &item->finding);
    writer_end_object(w);
}

static void encode_bottlenecks(struct writer *w, const struct codec_diagnosis *all)
{
    const struct bottlenecks *found = all->bottlenecks;
    if (!writer_member_object_or_null(w, "bottlenecks", found != NULL))
        return;
    writer_member_string(w, "run_id", found->run_id);
    writer_member_number(w, "duration_s", found->duration_s);
    writer_member_array(w, "items");
    for (size_t i = 0; i < found->n; i++)
        encode_bottleneck(w, &found->items[i], all->cores);
    writer_end_array(w);
    writer_end_object(w);
}

/* --- all --- */

static void encode_runs(struct writer *w, const struct codec_diagnosis *all)
{
    writer_member_object(w, "history");
    writer_member_integer(w, "runs", all->runs);
    writer_member_integer(w, "examined", (int64_t)all->looked_at);
    writer_member_integer(w, "runs_used", (int64_t)all->diagnosis->runs);
    writer_member_integer(w, "with_stages", (int64_t)all->diagnosis->runs_with_stages);
    writer_member_integer(w, "failed", (int64_t)all->failed);
    writer_member_integer(w, "without_problem_size", (int64_t)all->without_problem_size);
    writer_member_integer(w, "without_executors", (int64_t)all->without_executors);
    writer_member_integer(w, "without_duration", (int64_t)all->without_duration);
    writer_end_object(w);
}

void codec_diagnosis_encode(struct writer *w, const struct codec_diagnosis *all)
{
    struct findings missing = {.arena = w->arena};
    unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
    writer_begin_object(w);
    writer_member_text(w, "application", all->application);
    writer_member_integer(w, "history_version", all->history_version);
    encode_runs(w, all);
    writer_member_array(w, "slices");
    for (size_t i = 0; i < all->diagnosis->n; i++)
        encode_slice(w, &all->diagnosis->slices[i]);
    writer_end_array(w);
    writer_member_integer(w, "slices_left_out", (int64_t)all->diagnosis->left_out);
    encode_best_load(w, &all->diagnosis->best_load);
    encode_bottlenecks(w, all);
    diagnosis_explain_missing(all->diagnosis, all->unmeasured, &missing);
    codec_findings_encode(w, "missing", &missing);
    writer_end_object(w);
    w->digits = digits;
}
