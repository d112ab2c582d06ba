#include "cli/commands/query.h"
#include "cli/commands/simulation_parts.h"
#include "cli/output/json_text.h"

/* Queues over time in a row for each kind or class of tasks, and the masters of groups of workers. */

struct course {
    double mean;
    double most;
    size_t most_at; /* the bin */
};

static struct course course_of(const json_t *bins)
{
    struct course course = {.mean = 0};
    const size_t n = json_array_size(bins);
    for (size_t i = 0; i < n; i++) {
        const double value = json_number_value(json_array_get(bins, i));
        course.mean += value / (double)n;
        if (value > course.most) {
            course.most = value;
            course.most_at = i;
        }
    }
    return course;
}

static void add_number(json_t *row, const char *key, double value)
{
    (void)json_object_set_new(row, key, json_real(value));
}

/* A row unless there never was such a task. */
static void add_tasks(json_t *rows,
                      const json_t *load,
                      const json_t *policy,
                      const char *tasks,
                      const json_t *waiting_bins)
{
    const json_t *queues = json_at(policy, "queue_lengths");
    const struct course waiting = course_of(waiting_bins);
    const struct course running = course_of(json_at(json_at(queues, "running_tasks"), tasks));
    const double bin_s = json_number_at(queues, "bin_s", 0);
    if (!(waiting.most > 0 || running.most > 0))
        return;
    json_t *row = simulation_row(rows, load);
    simulation_cell(row, "policy", json_at(policy, "name"));
    (void)json_object_set_new(row, "tasks", json_string(tasks));
    add_number(row, "waiting_mean", waiting.mean);
    add_number(row, "waiting_most", waiting.most);
    if (waiting.most > 0)
        add_number(row, "waiting_most_at_s",
                   json_number_at(queues, "start_s", 0) + (double)waiting.most_at * bin_s);
    add_number(row, "running_mean", running.mean);
    add_number(row, "running_most", running.most);
    simulation_cell(row, "bin_s", json_at(queues, "bin_s"));
}

static void add_queues(json_t *rows, const json_t *load, const json_t *policy)
{
    const char *tasks;
    json_t *bins;
    json_object_foreach((json_t *)(uintptr_t)json_at(policy, "queue_lengths.waiting_tasks"), tasks,
                        bins) add_tasks(rows, load, policy, tasks, bins);
}

static void add_masters(json_t *rows, const json_t *load, const json_t *policy)
{
    const json_t *masters = json_at(policy, "queue_lengths.masters");
    if (!json_is_object(masters))
        return;
    json_t *row = simulation_row(rows, load);
    simulation_cell(row, "policy", json_at(policy, "name"));
    simulation_cell(row, "count", json_at(masters, "count"));
    simulation_cell(row, "mean_messages_per_s", json_at(masters, "mean_messages_per_s"));
    simulation_cell(row, "busiest", json_at(masters, "busiest.0"));
}

static const struct column queue_columns[] = {
    {"load", "load", CELL_NUMBER, NULL},
    {"policy", "policy", CELL_TEXT, NULL},
    {"tasks", "tasks", CELL_TEXT, NULL},
    {"wait on average", "waiting_mean", CELL_NUMBER, NULL},
    {"at most", "waiting_most", CELL_NUMBER, NULL},
    {"at", "waiting_most_at_s", CELL_SECONDS, NULL},
    {"run on average", "running_mean", CELL_NUMBER, NULL},
    {"at most", "running_most", CELL_NUMBER, NULL},
    {"as means over", "bin_s", CELL_SECONDS, NULL},
};

static const struct column master_columns[] = {
    {"load", "load", CELL_NUMBER, NULL},
    {"policy", "policy", CELL_TEXT, NULL},
    {"masters", "count", CELL_COUNT, NULL},
    {"messages/s of each", "mean_messages_per_s", CELL_NUMBER, NULL},
    {"of the busiest", "busiest.messages_per_s", CELL_NUMBER, NULL},
    {"at most", "busiest.peak_messages_per_s", CELL_NUMBER, NULL},
    {"its group", "busiest.master", CELL_COUNT, NULL},
};

void simulation_queues(const json_t *result, json_t *made, struct section sections[])
{
    const json_t *loads = json_at(result, "loads");
    json_t *queues = simulation_rows(made);
    json_t *masters = simulation_rows(made);
    for (size_t l = 0; l < json_array_size(loads); l++) {
        const json_t *load = json_array_get(loads, l);
        const json_t *policies = json_at(load, "policies");
        for (size_t p = 0; p < json_array_size(policies); p++) {
            add_queues(queues, load, json_array_get(policies, p));
            add_masters(masters, load, json_array_get(policies, p));
        }
    }
    sections[0] = simulation_table("Tasks that wait and run over time", result, queues,
                                   queue_columns, COUNT(queue_columns));
    sections[1] = simulation_table("Load of the masters", result, masters, master_columns,
                                   COUNT(master_columns));
}
