#include "cli/commands/simulation.h"

#include <math.h>
#include <string.h>

#include "cli/commands/query.h"
#include "cli/commands/simulation_parts.h"
#include "cli/output/json_text.h"

static const struct column best_of_loads[] = {
    {"load", "load", CELL_NUMBER, NULL},
    {"best", "best", CELL_NAME, NULL},
    {"objective", "value", CELL_NUMBER, NULL},
    {"next best", "next", CELL_TEXT, NULL},
    {"its objective", "next_value", CELL_NUMBER, NULL},
    {"better by", "margin_percent", CELL_PERCENT, NULL},
    {"standard error", "standard_error", CELL_NUMBER, NULL},
    {"difference", "difference", CELL_VERDICT, NULL},
};

static const struct column best_of_rates[] = {
    {"arrivals/s", "arrival_rate_per_s", CELL_NUMBER, NULL},
    {"best", "best.name", CELL_TEXT, NULL},
    {"better by", "best.margin_percent", CELL_PERCENT, NULL},
    {"why", "best.message", CELL_TEXT, NULL},
};

static const struct column outcomes[] = {
    {"load", "load", CELL_NUMBER, NULL},
    {"policy", "policy", CELL_TEXT, NULL},
    {"best", "best", CELL_VERDICT, NULL},
    {"jobs", "jobs", CELL_TEXT, NULL},
    {"mean time", "completion_s.mean", CELL_SECONDS, NULL},
    {"slowdown of 50 %", "slowdown.p50", CELL_NUMBER, NULL},
    {"of 95 %", "slowdown.p95", CELL_NUMBER, NULL},
    {"of 99 %", "slowdown.p99", CELL_NUMBER, NULL},
    {"95 % and baseline", "reduction_percent.slowdown.p95", CELL_BELOW, NULL},
    {"makespan", "makespan_s", CELL_SECONDS, NULL},
    {"utilization", "utilization", CELL_SHARE, NULL},
};

json_t *simulation_rows(json_t *made)
{
    json_t *rows = json_array();
    (void)json_array_append_new(made, rows);
    return rows;
}

json_t *simulation_row(json_t *rows, const json_t *load)
{
    json_t *row = json_object();
    simulation_cell(row, "load", json_at(load, "load"));
    (void)json_array_append_new(rows, row);
    return row;
}

void simulation_cell(json_t *row, const char *key, const json_t *value)
{
    (void)json_object_set(row, key, (json_t *)(uintptr_t)value);
}

struct section simulation_table(const char *title,
                                const json_t *result,
                                const json_t *rows,
                                const struct column columns[],
                                size_t n_columns)
{
    const size_t left_out = json_array_size(json_at(result, "loads")) < 2;
    return (struct section){.title = title,
                            .value = rows,
                            .columns = columns + left_out,
                            .n_columns = n_columns - left_out};
}

void simulation_load_words(const json_t *load, char out[SIMULATION_LOAD_TEXT])
{
    const json_t *value = json_at(load, "load");
    if (json_is_number(value))
        (void)snprintf(out, SIMULATION_LOAD_TEXT, "Load %.6g", json_number_value(value));
    else
        (void)snprintf(out, SIMULATION_LOAD_TEXT, "Arrivals as given");
}

/* How far the best policy is from the next one, by the evidence of the first reason; NULL without a
 * next one. */
static const char *difference_words(const json_t *load)
{
    static const double negligible_percent = 0.1;
    const json_t *evidence = json_at(load, "recommendation.reasons.0.evidence");
    const double value = json_number_at(evidence, "value", 0);
    const double next = json_number_at(evidence, "next_value", value);
    const double error = json_number_at(evidence, "standard_error", -1);
    if (json_at(evidence, "next") == NULL)
        return NULL;
    if (value == next)
        return "none";
    if (error >= 0 && fabs(next - value) < 2 * error)
        return "within the error";
    if (json_number_at(evidence, "margin_percent", 100) < negligible_percent)
        return "negligible";
    return error < 0 ? "of one repetition" : "clear";
}

static bool is_tie(const json_t *load)
{
    const char *words = difference_words(load);
    return words != NULL && strcmp(words, "clear") != 0 && strcmp(words, "of one repetition") != 0;
}

/* The best policy of each load; of a tie with both names. */
static json_t *best_rows(const json_t *loads, json_t *made)
{
    static const char *const members[] = {"value", "next", "next_value", "margin_percent",
                                          "standard_error"};
    json_t *rows = simulation_rows(made);
    for (size_t l = 0; l < json_array_size(loads); l++) {
        const json_t *load = json_array_get(loads, l);
        const json_t *evidence = json_at(load, "recommendation.reasons.0.evidence");
        const char *difference = difference_words(load);
        char best[512];
        json_t *row = simulation_row(rows, load);
        (void)snprintf(best, sizeof best, "%.200s%s%.200s", json_text_at(load, "best.name", ""),
                       is_tie(load) ? " or " : "",
                       is_tie(load) ? json_text_at(evidence, "next", "") : "");
        (void)json_object_set_new(row, "best", json_string(best));
        for (size_t i = 0; i < COUNT(members); i++)
            simulation_cell(row, members[i], json_at(evidence, members[i]));
        if (difference != NULL)
            (void)json_object_set_new(row, "difference", json_string(difference));
    }
    return rows;
}

/* Is this policy the best one ("yes"), or one of two that are alike ("tie")? NULL: neither. */
static const char *best_word(const json_t *load, const json_t *name)
{
    const json_t *next = json_at(load, "recommendation.reasons.0.evidence.next");
    if (json_equal(name, json_at(load, "best.name")))
        return is_tie(load) ? "tie" : "yes";
    return is_tie(load) && json_equal(name, next) ? "tie" : NULL;
}

/* of: what has the figures, the policy or a class of its jobs. */
static void add_row(json_t *rows,
                    const json_t *load,
                    const json_t *policy,
                    const json_t *of,
                    const json_t *reduction,
                    const char *jobs)
{
    json_t *row = simulation_row(rows, load);
    simulation_cell(row, "policy", json_at(policy, "name"));
    const char *best = best_word(load, json_at(policy, "name"));
    if (best != NULL)
        (void)json_object_set_new(row, "best", json_string(best));
    (void)json_object_set_new(row, "jobs", json_string(jobs));
    simulation_cell(row, "completion_s", json_at(of, "completion_s"));
    simulation_cell(row, "slowdown", json_at(of, "slowdown"));
    simulation_cell(row, "reduction_percent", reduction);
    simulation_cell(row, "makespan_s", json_at(policy, "makespan_s"));
    simulation_cell(row, "utilization", json_at(policy, "utilization"));
}

/* Of kind slots the figures of all jobs are the policy's own, of kind tasks those of a class. */
static void add_policy(json_t *rows, const json_t *load, const json_t *policy)
{
    const json_t *classes = json_at(policy, "classes");
    const json_t *reductions = json_at(policy, "reduction_percent.classes");
    if (json_at(policy, "slowdown") != NULL) {
        add_row(rows, load, policy, policy, json_at(policy, "reduction_percent"), "all");
        return;
    }
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const json_t *class = json_array_get(classes, i);
        add_row(rows, load, policy, class, json_array_get(reductions, i),
                json_text_at(class, "name", ""));
    }
}

static void compare_policies(const json_t *result, json_t *made, struct section *section)
{
    const json_t *loads = json_at(result, "loads");
    json_t *rows = simulation_rows(made);
    for (size_t l = 0; l < json_array_size(loads); l++) {
        const json_t *load = json_array_get(loads, l);
        const json_t *policies = json_at(load, "policies");
        for (size_t p = 0; p < json_array_size(policies); p++)
            add_policy(rows, load, json_array_get(policies, p));
    }
    *section = (struct section){.title = "Outcomes of the policies",
                                .value = rows,
                                .columns = outcomes,
                                .n_columns = COUNT(outcomes)};
}

/* Of policies whose outcome has this member; where none has, there is no such section. */
static void show_member(const json_t *result,
                        json_t *made,
                        const char *member,
                        const char *title,
                        const struct column columns[],
                        size_t n_columns,
                        struct section *section)
{
    const json_t *loads = json_at(result, "loads");
    json_t *rows = simulation_rows(made);
    for (size_t l = 0; l < json_array_size(loads); l++) {
        const json_t *load = json_array_get(loads, l);
        const json_t *policies = json_at(load, "policies");
        for (size_t p = 0; p < json_array_size(policies); p++) {
            const json_t *policy = json_array_get(policies, p);
            const json_t *figures = json_object_get(policy, member);
            if (!json_is_object(figures))
                continue;
            json_t *row = simulation_row(rows, load);
            simulation_cell(row, "policy", json_at(policy, "name"));
            simulation_cell(row, member, figures);
        }
    }
    *section = simulation_table(title, result, rows, columns, n_columns);
}

static void show_copies(const json_t *result, json_t *made, struct section *section)
{
    static const struct column columns[] = {
        {"load", "load", CELL_NUMBER, NULL},
        {"policy", "policy", CELL_TEXT, NULL},
        {"copies", "speculation.copies", CELL_NUMBER, NULL},
        {"useful", "speculation.useful", CELL_NUMBER, NULL},
        {"killed on stragglers", "speculation.killed_on_straggler", CELL_NUMBER, NULL},
        {"on slower nodes", "speculation.killed_on_slower", CELL_NUMBER, NULL},
        {"slot time wasted", "speculation.wasted_s", CELL_SECONDS, NULL},
    };
    show_member(result, made, "speculation", "Copies of slow tasks", columns, COUNT(columns),
                section);
}

static void show_containers(const json_t *result, json_t *made, struct section *section)
{
    static const struct column columns[] = {
        {"load", "load", CELL_NUMBER, NULL},
        {"policy", "policy", CELL_TEXT, NULL},
        {"vcores held", "allocated.vcores", CELL_SHARE, NULL},
        {"memory held", "allocated.memory_bytes", CELL_SHARE, NULL},
    };
    show_member(result, made, "allocated", "Containers", columns, COUNT(columns), section);
}

static void show_network(const json_t *result, json_t *made, struct section *section)
{
    static const struct column columns[] = {
        {"load", "load", CELL_NUMBER, NULL},
        {"policy", "policy", CELL_TEXT, NULL},
        {"over links", "network.link_bytes", CELL_BYTES, NULL},
        {"on own node", "network.local_bytes", CELL_BYTES, NULL},
        {"links used", "network.link_utilization", CELL_SHARE, NULL},
        {"the busiest", "network.busiest_link_utilization", CELL_SHARE, NULL},
    };
    show_member(result, made, "network", "Shuffles over the network", columns, COUNT(columns),
                section);
}

json_t *
simulation_sections(const json_t *result, bool all, struct section sections[SIMULATION_SECTIONS])
{
    const bool geo = strcmp(json_text_at(result, "kind", ""), "geo") == 0;
    json_t *made = json_array();
    struct section *at = sections;
    for (size_t i = 0; i < SIMULATION_SECTIONS; i++)
        sections[i] = (struct section){.value = NULL};
    if (!geo)
        compare_policies(result, made, at++);
    *at++ = (struct section){.title = "The best policy",
                             .value = geo ? json_at(result, "loads")
                                          : best_rows(json_at(result, "loads"), made),
                             .columns = geo ? best_of_rates : best_of_loads,
                             .n_columns = geo ? COUNT(best_of_rates) : COUNT(best_of_loads)};
    simulation_reasons(result, made, at);
    at += REASONS_SECTIONS;
    simulation_search(result, all, made, at);
    at += SEARCH_SECTIONS;
    simulation_queues(result, made, at);
    at += QUEUES_SECTIONS;
    show_copies(result, made, at++);
    show_containers(result, made, at++);
    show_network(result, made, at);
    return made;
}
