#include "codec/models/experiments.h"

#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "codec/json/finding.h"

const char *const codec_experiments_criteria[] = {"imse", "cheapest", "d_optimal", NULL};

/* What is billed of all runs of an item. */
static double unit_s_of(const struct billing *billing, const struct experiment *item)
{
    return billing_is_plain(billing)
               ? item->executor_s
               : (double)item->repeat *
                     billing_unit_s(billing, (int64_t)item->at.executors, item->duration_s);
}

static double experiments_cost_of(const struct billing *billing, double unit_s)
{
    return unit_s / 3600 * billing->per_hour;
}

/* --- reasons --- */

static void write_sentence(const struct experiment *item, char *text, size_t room)
{
    double N = item->at.problem_size;
    double m = item->at.executors;
    double off = item->uncertainty_percent;
    switch (item->reason) {
    case EXPERIMENTS_FIRST:
        (void)snprintf(text, room, "There is no run yet: this one says most to start with.");
        return;
    case EXPERIMENTS_NEW_EXECUTORS:
        (void)snprintf(text, room,
                       "All other runs have one executor count; one with %.0f shows what more or "
                       "fewer of them do.",
                       m);
        return;
    case EXPERIMENTS_NEW_SIZE:
        (void)snprintf(text, room,
                       "All other runs have one problem size; one of %.0f shows how the time "
                       "grows with it.",
                       N);
        return;
    case EXPERIMENTS_NEW_SHARE:
        (void)snprintf(text, room,
                       "All other runs have the same problem size per executor; %s of it separates "
                       "work from overhead.",
                       quantity_number(N / m).text);
        return;
    case EXPERIMENTS_REPEATS:
        (void)snprintf(
            text, room,
            "The same again: how far runs of one configuration lie apart separates noise "
            "from effect, and both ends weigh more.");
        return;
    case EXPERIMENTS_WIDENS:
        if (isnan(off))
            (void)snprintf(text, room, "Beyond what was measured.");
        else
            (void)snprintf(text, room,
                           "Beyond what was measured: the time there is uncertain by %s.",
                           quantity_percent(off).text);
        return;
    case EXPERIMENTS_WIDEST_GAP:
        (void)snprintf(text, room, "Farthest from all other runs.");
        return;
    case EXPERIMENTS_LEAST_CERTAIN:
        (void)snprintf(text, room,
                       "Says most about the effects that the other runs leave open: the time "
                       "there is uncertain by %s.",
                       quantity_percent(off).text);
        return;
    case EXPERIMENTS_MOST_CERTAINTY:
        (void)snprintf(text, room, "Takes most uncertainty off the times asked about.");
        return;
    case EXPERIMENTS_MOST_FOR_COST:
        (void)snprintf(text, room,
                       "Takes most uncertainty off the time asked about for what it costs.");
        return;
    }
}

static void write_reasons(struct writer *w, const struct experiment *item)
{
    char text[200] = "";
    write_sentence(item, text, sizeof text);
    struct findings reasons = {.arena = w->arena};
    (void)finding_add(&reasons, experiments_reason_name(item->reason), "%s", text);
    codec_findings_encode(w, "reasons", &reasons);
}

void codec_experiments_encode_items(struct writer *w, const struct codec_experiments *experiments)
{
    const struct billing *billing = &experiments->billing;
    writer_begin_array(w);
    for (size_t i = 0; i < experiments->plan->n; i++) {
        const struct experiment *item = &experiments->plan->items[i];
        writer_begin_object(w);
        writer_member_number(w, "problem_size", item->at.problem_size);
        writer_member_integer(w, "executors", (int64_t)item->at.executors);
        writer_member_integer(w, "existing_runs", (int64_t)item->there);
        writer_member_integer(w, "repeat", (int64_t)item->repeat);
        unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
        writer_member_number(w, "predicted_duration_s", item->duration_s);
        writer_member_number(w, "executor_s", item->executor_s);
        writer_member_number(w, "cost", experiments_cost_of(billing, unit_s_of(billing, item)));
        writer_member_number(w, "expected_interval_cut_percent", item->cut_percent);
        writer_member_number(w, "cumulative_interval_cut_percent", item->cumulative_cut_percent);
        w->digits = digits;
        write_reasons(w, item);
        writer_end_object(w);
    }
    writer_end_array(w);
}

/* --- the whole reply --- */

static void write_asked(struct writer *w, const struct codec_experiments *experiments)
{
    const struct experiment_region *region = experiments->region;
    const struct experiments_plan *plan = experiments->plan;
    const double unknown[2] = {(double)NAN, (double)NAN};
    bool one = region->n_asked == 1;
    writer_member_object(w, "asked");
    writer_member_number(w, "problem_size", region->problem_size);
    writer_member_array(w, "executor_counts");
    for (size_t i = 0; i < region->n_asked; i++)
        writer_integer(w, (int64_t)region->asked[i].executors);
    writer_end_array(w);
    writer_member_number(w, "confidence", experiments->question->confidence);
    writer_member_pair(w, "interval_s", one ? plan->interval_s : unknown);
    writer_member_pair(w, "expected_interval_s", one ? plan->expected_interval_s : unknown);
    writer_end_object(w);
}

static void write_allowed(struct writer *w, const struct codec_experiments *experiments)
{
    const struct experiment_region *region = experiments->region;
    writer_member_object(w, "allowed");
    writer_member_numbers(w, "problem_sizes", region->problem_sizes, region->n_sizes);
    writer_member_integer(w, "min_executors", region->min_executors);
    writer_member_integer(w, "max_executors", region->max_executors);
    writer_member_integer(w, "point_count", (int64_t)region->n_allowed);
    writer_member_integer(w, "points_without_prediction", (int64_t)experiments->plan->without_time);
    writer_end_object(w);
}

static void write_warnings(struct writer *w, const struct codec_experiments *experiments)
{
    const struct experiments_plan *plan = experiments->plan;
    const struct experiments_question *question = experiments->question;
    struct findings warnings = {.arena = w->arena};
    if (experiments->no_model != NULL)
        (void)finding_add(&warnings, "no_model",
                          "No model says how times go on beyond the runs; a general law is "
                          "assumed: %s",
                          experiments->no_model);
    if (!isnan(question->executor_s_max) && isnan(plan->cheapest_s)) {
        (void)finding_add(
            &warnings, "cost_unknown",
            "Without a run it is not known how long one takes: the budget was not applied.");
    } else if (plan->runs < question->count) {
        struct finding *finding =
            finding_add(&warnings, "budget_too_small",
                        "The budget of %s executor-seconds ends before %zu run%s; the cheapest "
                        "allowed one takes %s.",
                        quantity_number(question->executor_s_max).text, question->count,
                        PLURAL(question->count), quantity_number(plan->cheapest_s).text);
        finding_number(finding, "budget_executor_s", question->executor_s_max);
        finding_number(finding, "cheapest_executor_s", plan->cheapest_s);
    }
    warned_runs_explain(&experiments->warned, false, &warnings);
    codec_findings_encode(w, "warnings", &warnings);
}

static void write_totals(struct writer *w, const struct codec_experiments *experiments)
{
    const struct experiments_plan *plan = experiments->plan;
    const struct billing *billing = &experiments->billing;
    unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
    double executor_s = 0, unit_s = 0;
    for (size_t i = 0; i < plan->n; i++) {
        executor_s += plan->items[i].executor_s;
        unit_s += unit_s_of(billing, &plan->items[i]);
    }
    writer_member_number(w, "executor_s", executor_s);
    writer_member_number(w, "cost", experiments_cost_of(billing, unit_s));
    writer_member_number(w, "expected_interval_cut_percent",
                         plan->n == 0 ? (double)NAN
                                      : plan->items[plan->n - 1].cumulative_cut_percent);
    w->digits = digits;
}

void codec_experiments_encode(struct writer *w, const struct codec_experiments *experiments)
{
    writer_begin_object(w);
    writer_member_text(w, "application", experiments->application);
    writer_member_integer(w, "history_version", experiments->history_version);
    writer_member_integer(w, "runs", (int64_t)experiments->runs);
    writer_member_string(w, "model", experiments->model);
    writer_member_string(w, "criterion",
                         codec_experiments_criteria[experiments->question->criterion]);
    write_asked(w, experiments);
    write_allowed(w, experiments);
    writer_key(w, "items");
    codec_experiments_encode_items(w, experiments);
    write_totals(w, experiments);
    write_warnings(w, experiments);
    writer_end_object(w);
}
