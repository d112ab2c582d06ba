#include "cli/commands/simulation.h"

#include <string.h>

#include "cli/commands/query.h"
#include "cli/output/json_text.h"

static const struct column best_of_loads[] = {
    {"load", "load", CELL_NUMBER, NULL},
    {"best", "best.name", CELL_TEXT, NULL},
    {"better by", "best.margin_percent", CELL_PERCENT, NULL},
    {"why", "best.message", CELL_TEXT, NULL},
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
    {"best", "best", CELL_YES, NULL},
    {"jobs", "jobs", CELL_TEXT, NULL},
    {"mean time", "completion_s.mean", CELL_SECONDS, NULL},
    {"slowdown of 50 %", "slowdown.p50", CELL_NUMBER, NULL},
    {"of 95 %", "slowdown.p95", CELL_NUMBER, NULL},
    {"of 99 %", "slowdown.p99", CELL_NUMBER, NULL},
    {"95 % below baseline", "reduction_percent.slowdown.p95", CELL_PERCENT, NULL},
    {"makespan", "makespan_s", CELL_SECONDS, NULL},
    {"utilization", "utilization", CELL_SHARE, NULL},
};

static void set_borrowed(json_t *row, const char *key, const json_t *value)
{
    (void)json_object_set(row, key, (json_t *)(uintptr_t)value);
}

/* of: what has the figures, the policy or a class of its jobs. */
static void add_row(json_t *rows,
                    const json_t *load,
                    const json_t *policy,
                    const json_t *of,
                    const json_t *reduction,
                    const char *jobs)
{
    json_t *row = json_object();
    set_borrowed(row, "load", json_at(load, "load"));
    set_borrowed(row, "policy", json_at(policy, "name"));
    if (json_equal(json_at(policy, "name"), json_at(load, "best.name")))
        (void)json_object_set_new(row, "best", json_true());
    (void)json_object_set_new(row, "jobs", json_string(jobs));
    set_borrowed(row, "completion_s", json_at(of, "completion_s"));
    set_borrowed(row, "slowdown", json_at(of, "slowdown"));
    set_borrowed(row, "reduction_percent", reduction);
    set_borrowed(row, "makespan_s", json_at(policy, "makespan_s"));
    set_borrowed(row, "utilization", json_at(policy, "utilization"));
    (void)json_array_append_new(rows, row);
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

json_t *simulation_sections(const json_t *result, struct section sections[SIMULATION_SECTIONS])
{
    const char *kind = json_text_at(result, "kind", "");
    const json_t *loads = json_at(result, "loads");
    json_t *rows = json_array();
    bool geo = strcmp(kind, "geo") == 0;
    for (size_t l = 0; l < json_array_size(loads) && !geo; l++) {
        const json_t *load = json_array_get(loads, l);
        const json_t *policies = json_at(load, "policies");
        for (size_t p = 0; p < json_array_size(policies); p++)
            add_policy(rows, load, json_array_get(policies, p));
    }
    sections[0] = (struct section){.title = "What policies come to",
                                   .value = rows,
                                   .columns = outcomes,
                                   .n_columns = COUNT(outcomes)};
    sections[1] = (struct section){.title = "The best policy",
                                   .value = loads,
                                   .columns = geo ? best_of_rates : best_of_loads,
                                   .n_columns = COUNT(best_of_loads)};
    return rows;
}
