#include "codec/models/stragglers.h"

#include <math.h>

#include "base/plural.h"
#include "codec/json/finding.h"

/* Slow tasks that are listed one by one, of a stage. */
enum { SLOW_TASKS_SHOWN = 10 };

/* --- nodes --- */

static void encode_place(struct writer *w, const char *key, size_t place)
{
    writer_member_count(w, key, place == SIZE_MAX ? RUN_UNKNOWN : (int64_t)place);
}

static void encode_node(struct writer *w, const struct straggler_node *node, const struct run *run)
{
    int64_t cores = node->place == SIZE_MAX ? RUN_UNKNOWN : run->nodes[node->place].cores;
    writer_begin_object(w);
    writer_member_text(w, "name", node->name);
    encode_place(w, "node_index", node->place);
    writer_member_string(w, "verdict", straggler_verdict_name(node->verdict));
    writer_member_number(w, "slowdown", node->speed.factor);
    if (node->speed.studies > 0)
        writer_member_pair(w, "interval", (const double[]){node->speed.low, node->speed.high});
    else
        writer_member_null(w, "interval");
    writer_member_integer(w, "tasks", (int64_t)node->speed.tasks);
    writer_member_integer(w, "stages_compared", (int64_t)node->speed.studies);
    writer_member_integer(w, "runs", (int64_t)node->runs);
    writer_member_integer(w, "slow_runs", (int64_t)node->slow_runs);
    writer_member_instant(w, "slow_since_at", node->since_us);
    writer_member_count(w, "cores", cores);
    writer_member_string(w, "reason", node->reason);
    writer_end_object(w);
}

/* --- slow tasks --- */

static void encode_slow_task(struct writer *w,
                             const struct run *run,
                             const struct run_stage *stage,
                             const struct slow_task *slow)
{
    int64_t node = stage->task_nodes == NULL ? RUN_UNKNOWN : stage->task_nodes[slow->task];
    int64_t bytes =
        stage->task_read_bytes == NULL ? RUN_UNKNOWN : stage->task_read_bytes[slow->task];
    writer_begin_object(w);
    writer_member_integer(w, "task", (int64_t)slow->task);
    writer_member_count(w, "node_index", node);
    writer_member_text(w, "node_name",
                       node < 0 ? (struct strview){NULL, 0} : run->nodes[node].name);
    writer_member_number(w, "duration_s", stage->task_durations_s[slow->task]);
    writer_member_count(w, "read_bytes", bytes);
    writer_member_number(w, "extra_s", slow->extra_s);
    writer_member_number(w, "extra_by_read_s", slow->read_s);
    writer_member_number(w, "extra_by_node_s", slow->node_s);
    writer_member_number(w, "extra_unexplained_s", slow->unknown_s);
    writer_end_object(w);
}

static void
encode_stage(struct writer *w, const struct run *run, const struct straggler_stage *judged)
{
    const struct slow_stage *slow = &judged->slow;
    writer_begin_object(w);
    writer_member_integer(w, "stage_id", judged->stage->id);
    writer_member_text(w, "stage_name", judged->stage->name);
    writer_member_integer(w, "tasks", judged->stage->n_tasks);
    writer_member_number(w, "duration_s", judged->stage->duration_s);
    writer_member_number(w, "median_task_s", judged->times.median_s);
    writer_member_number(w, "slow_from_s", slow->threshold_s);
    writer_member_integer(w, "slow_tasks", (int64_t)slow->n);
    writer_member_number(w, "extra_s", slow->sum.extra_s);
    writer_member_number(w, "extra_by_read_s", slow->sum.read_s);
    writer_member_number(w, "extra_by_node_s", slow->sum.node_s);
    writer_member_number(w, "extra_unexplained_s", slow->sum.unknown_s);
    writer_member_number(w, "replayed_s", judged->replayed_s);
    writer_member_number(w, "without_slow_tasks_s", judged->without_s);
    writer_member_array(w, "slowest");
    for (size_t i = 0; i < slow->n && i < SLOW_TASKS_SHOWN; i++)
        encode_slow_task(w, run, judged->stage, &slow->tasks[i]);
    writer_end_array(w);
    writer_end_object(w);
}

/* --- copies --- */

static void encode_copies(struct writer *w, const char *key, const struct straggler_copies *copies)
{
    writer_member_object(w, key);
    writer_member_number(w, "duration_s", copies->duration_s);
    writer_member_number(w, "saved_s", copies->saved_s);
    writer_member_integer(w, "copies_started", (int64_t)copies->copies);
    writer_member_integer(w, "useful_copies", (int64_t)copies->useful);
    writer_member_number(w, "wasted_s", copies->wasted_s);
    writer_end_object(w);
}

static void encode_speculation(struct writer *w, const struct straggler_speculation *speculation)
{
    static const char *const rules[COPY_RULES] = {
        [COPY_SPARK] = "spark", [COPY_LATE] = "late", [COPY_ESPLASH] = "esplash"};
    double off = 100 * (speculation->replayed_s / speculation->measured_s - 1);
    if (!writer_member_object_or_null(w, "speculation", speculation->stages > 0))
        return;
    writer_member_integer(w, "stages_replayed", (int64_t)speculation->stages);
    writer_member_number(w, "measured_s", speculation->measured_s);
    writer_member_number(w, "replayed_s", speculation->replayed_s);
    writer_member_number(w, "replay_error_percent",
                         speculation->measured_s > 0 ? off : (double)NAN);
    writer_member_array(w, "rules");
    for (enum copy_rule rule = COPY_SPARK; rule < COPY_RULES; rule++) {
        writer_begin_object(w);
        writer_member_string(w, "rule", rules[rule]);
        encode_copies(w, "optimistic", &speculation->copies[rule][STRAGGLER_OPTIMISTIC]);
        encode_copies(w, "pessimistic", &speculation->copies[rule][STRAGGLER_PESSIMISTIC]);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

/* --- stages at the same time --- */

static const char *const share_words[SHARE_RULES] = {[SHARE_FIFO] = "fifo",
                                                     [SHARE_FAIR] = "fair",
                                                     [SHARE_SHORTEST] = "shortest_first",
                                                     [SHARE_LONGEST] = "longest_first"};

static void encode_group(struct writer *w, const struct straggler_group *group, size_t slots)
{
    double as_run = group->rules[group->rule_of_run].makespan_s;
    writer_begin_object(w);
    writer_member_array(w, "stage_ids");
    for (size_t i = 0; i < group->n; i++)
        writer_integer(w, group->stage_ids[i]);
    writer_end_array(w);
    writer_member_integer(w, "slots", (int64_t)slots);
    writer_member_number(w, "measured_s", group->measured_s);
    writer_member_number(w, "replayed_s", as_run);
    writer_member_string(w, "rule_of_run", share_words[group->rule_of_run]);
    writer_member_string(w, "best_rule", share_words[group->best]);
    writer_member_number(w, "saved_s", fmax(as_run - group->rules[group->best].makespan_s, 0));
    writer_member_array(w, "divisions");
    for (enum share_rule rule = SHARE_FIFO; rule < SHARE_RULES; rule++) {
        writer_begin_object(w);
        writer_member_string(w, "rule", share_words[rule]);
        writer_member_number(w, "makespan_s", group->rules[rule].makespan_s);
        writer_member_number(w, "mean_end_s", group->rules[rule].mean_end_s);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

/* --- all --- */

static void encode_advice(struct writer *w, const struct stragglers *found)
{
    writer_member_array(w, "advice");
    for (size_t i = 0; found != NULL && i < found->n_advice; i++) {
        const struct straggler_advice *advice = &found->advice[i];
        writer_begin_object(w);
        writer_key(w, "finding");
        codec_finding_encode(w, &advice->finding);
        writer_member_object(w, "properties");
        if (advice->key != NULL)
            writer_member_string(w, advice->key, advice->value);
        writer_end_object(w);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_warnings(struct writer *w, const struct codec_stragglers *all)
{
    struct findings warnings = {.arena = w->arena};
    if (all->found != NULL)
        warnings = all->found->warnings;
    if (all->found == NULL)
        (void)finding_add(&warnings, "no_runs",
                          "No run that succeeded has stages: there is nothing to look at.");
    else if (all->without_stages > 0)
        finding_count(finding_add(&warnings, "runs_without_stages",
                                  "%zu of %zu run%s %s no stages, and %s passed over.",
                                  all->without_stages, all->examined, PLURAL(all->examined),
                                  PLURAL_VERB(all->without_stages, "has", "have"),
                                  PLURAL_VERB(all->without_stages, "is", "are")),
                      all->without_stages);
    codec_findings_encode(w, "warnings", &warnings);
}

static void encode_lists(struct writer *w, const struct stragglers *found)
{
    static const struct straggler_speculation none = {.stages = 0};
    writer_member_array(w, "nodes");
    for (size_t i = 0; found != NULL && i < found->n_nodes; i++)
        encode_node(w, &found->nodes[i], found->run);
    writer_end_array(w);
    writer_member_array(w, "stages");
    for (size_t i = 0; found != NULL && i < found->n_stages; i++)
        if (found->stages[i].slow.n > 0)
            encode_stage(w, found->run, &found->stages[i]);
    writer_end_array(w);
    encode_speculation(w, found == NULL ? &none : &found->speculation);
    writer_member_array(w, "concurrent_stages");
    for (size_t g = 0; found != NULL && g < found->n_groups; g++)
        encode_group(w, &found->groups[g], found->slots);
    writer_end_array(w);
}

void codec_stragglers_encode(struct writer *w, const struct codec_stragglers *all)
{
    const struct stragglers *found = all->found;
    writer_begin_object(w);
    writer_member_text(w, "application", all->application);
    writer_member_integer(w, "runs_examined", (int64_t)(all->examined - all->without_stages));
    writer_member_string(w, "run_id", found == NULL ? NULL : found->run->id);
    writer_member_number(w, "duration_s", found == NULL ? (double)NAN : found->run->duration_s);
    if (writer_member_object_or_null(w, "slow_rule", found != NULL)) {
        writer_member_number(w, "quantile", found->rule.quantile);
        writer_member_number(w, "multiplier", found->rule.multiplier);
        writer_member_boolean(w, "set_by_run", found->rule_given);
        writer_end_object(w);
    }
    encode_lists(w, found);
    encode_advice(w, found);
    encode_warnings(w, all);
    writer_end_object(w);
}
