#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/findings.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "cli/output/cell.h"
#include "cli/output/json_text.h"
#include "cli/terminal/plot.h"

/* `slots`: map and reduce slots for a batch of jobs. */

enum { CURVE_ROWS = 12 };

/* Divisions that take longer than so many times the best say no more than that they do. */
static const double beyond = 5;

static const struct option_spec options[] = {
    {"ascii", 0, OPTION_FLAG, NULL, "Draw with characters of ASCII alone.", false}, OPTIONS_END};
static const struct option_group group = {"Options", options};

/* --- the curve --- */

struct drawn {
    const json_t *plan;
    bool ascii;
};

static struct plot_point *curve_of(const json_t *plan, size_t *n)
{
    const json_t *splits = json_object_get(plan, "splits");
    const double most_s = beyond * json_number_at(plan, "makespan_s", 0);
    struct plot_point *points = calloc(json_array_size(splits) + 1, sizeof *points);
    *n = 0;
    for (size_t i = 0; points != NULL && i < json_array_size(splits); i++) {
        const json_t *split = json_array_get(splits, i);
        const double makespan_s = json_number_at(split, "makespan_s", (double)NAN);
        if (makespan_s <= most_s)
            points[(*n)++] = (struct plot_point){json_number_at(split, "map_slots", 0), makespan_s,
                                                 (double)NAN, (double)NAN, false};
    }
    return points;
}

static void draw_curve(FILE *out, const struct terminal *terminal, const void *context)
{
    const struct drawn *drawn = context;
    const struct plot_mark best = {json_number_at(drawn->plan, "map_slots", 0),
                                   json_number_at(drawn->plan, "makespan_s", 0), 0};
    struct plot_series series = {.label = ""};
    struct plot_point *points = curve_of(drawn->plan, &series.n);
    series.points = points;
    const struct plot plot = {.x_label = "map slots",
                              .y_label = "makespan in s",
                              .series = &series,
                              .n_series = 1,
                              .marks = &best,
                              .n_marks = 1,
                              .width = terminal->width > 0 ? terminal->width : 80,
                              .rows = CURVE_ROWS,
                              .ascii = drawn->ascii,
                              .color = terminal->color_out};
    if (points == NULL || series.n < 2 || !plot_draw(out, &plot))
        fputs("There is no choice.\n", out);
    free(points);
}

/* --- in words --- */

enum { WORDS = 640 };

/* Writes the simulated makespan, and the division or concurrency that takes less, if there is one. */
static void write_words(const json_t *plan, char out[WORDS])
{
    static const double least_gain = 0.01;
    const double makespan_s = json_number_at(plan, "makespan_s", (double)NAN);
    const double simulated_s = json_number_at(plan, "simulated_makespan_s", (double)NAN);
    const double shortest_s = json_number_at(plan, "best_simulated.makespan_s", (double)NAN);
    const json_t *sweep = json_object_get(plan, "sweep");
    const json_t *best = plan;
    int n = 0;
    out[0] = '\0';
    if (strcmp(json_text_at(plan, "basis", ""), "fluid") == 0 && !isnan(simulated_s)) {
        n += snprintf(out + n, (size_t)(WORDS - n),
                      "The makespan counts work without last waves; with every task simulated all "
                      "jobs take %s. ",
                      quantity_duration(simulated_s).text);
    }
    if (simulated_s * (1 - least_gain) > shortest_s) {
        n += snprintf(out + n, (size_t)(WORDS - n),
                      "In the simulation %.0f map slots and %.0f reduce slots take %s, %s "
                      "less. ",
                      json_number_at(plan, "best_simulated.map_slots", 0),
                      json_number_at(plan, "best_simulated.reduce_slots", 0),
                      quantity_duration(shortest_s).text,
                      quantity_share(1 - shortest_s / simulated_s).text);
    }
    for (size_t i = 0; i < json_array_size(sweep); i++)
        if (json_number_at(json_array_get(sweep, i), "makespan_s", (double)NAN) <
            json_number_at(best, "makespan_s", (double)NAN))
            best = json_array_get(sweep, i);
    const double other_s = json_number_at(best, "makespan_s", (double)NAN);
    if (makespan_s * (1 - least_gain) > other_s) {
        const double jobs = json_number_at(best, "concurrency", 0);
        (void)snprintf(out + n, (size_t)(WORDS - n),
                       "With %.0f job%s at a time all jobs take %s, %s less.", jobs,
                       jobs == 1 ? "" : "s", quantity_duration(other_s).text,
                       quantity_share(1 - other_s / makespan_s).text);
    }
}

/* --- the answer --- */

static const struct column best_columns[] = {
    {"map slots", "map_slots", CELL_COUNT, NULL},
    {"reduce slots", "reduce_slots", CELL_COUNT, NULL},
    {"all jobs take", "makespan_s", CELL_SECONDS, NULL},
    {"simulated", "simulated_makespan_s", CELL_SECONDS, NULL},
    {"fairness", "fairness", CELL_NUMBER, NULL},
};
static const struct column job_columns[] = {
    {"job", "name", CELL_NAME, NULL},
    {"starts", "start_s", CELL_SECONDS, NULL},
    {"maps end", "map_end_s", CELL_SECONDS, NULL},
    {"reduces start", "reduce_start_s", CELL_SECONDS, NULL},
    {"ends", "finish_s", CELL_SECONDS, NULL},
    {"profile of", "profile.application", CELL_TEXT, NULL},
};
static const struct column sweep_columns[] = {
    {"jobs at a time", "concurrency", CELL_COUNT, NULL},
    {"map slots", "map_slots", CELL_COUNT, NULL},
    {"reduce slots", "reduce_slots", CELL_COUNT, NULL},
    {"all jobs take", "makespan_s", CELL_SECONDS, NULL},
    {"fairness", "fairness", CELL_NUMBER, NULL},
};
static const struct column error_columns[] = {
    {"map work times", "map_factor", CELL_NUMBER, NULL},
    {"reduce work times", "reduce_factor", CELL_NUMBER, NULL},
    {"best map slots", "best_map_slots", CELL_COUNT, NULL},
    {"all jobs take", "makespan_s", CELL_SECONDS, NULL},
    {"longer than the best by", "regret_percent", CELL_PERCENT, NULL},
};

static const struct column warning_columns[] = {{"warning", "message", CELL_TEXT, NULL}};

static bool write_plan(struct invocation *invocation, const json_t *plan)
{
    const struct drawn drawn = {plan, invocation_draws_ascii(invocation)};
    const json_t *warnings = json_object_get(plan, "warnings");
    char words[WORDS];
    write_words(plan, words);
    const struct section sections[] = {
        {.value = plan, .columns = best_columns, .n_columns = COUNT(best_columns)},
        {.text = invocation_for_people(invocation) ? words : ""},
        {.title = "Slots of each node",
         .value = json_object_get(plan, "per_node"),
         .columns = best_columns,
         .n_columns = COUNT(best_columns) - 1},
        {.title = "Divisions", .draw = draw_curve, .context = &drawn},
        {.title = "Jobs",
         .value = json_object_get(plan, "jobs"),
         .columns = job_columns,
         .n_columns = COUNT(job_columns)},
        {.title = "Other concurrencies",
         .value = json_object_get(plan, "sweep"),
         .columns = sweep_columns,
         .n_columns = COUNT(sweep_columns)},
        {.title = "If the profiles are wrong",
         .value = json_object_get(plan, "sensitivity"),
         .columns = error_columns,
         .n_columns = COUNT(error_columns)},
        {.title = "Warnings",
         .value = warnings,
         .columns = warning_columns,
         .n_columns = COUNT(warning_columns),
         .draw = json_array_size(warnings) > 0 ? findings_draw : NULL,
         .context = warnings}};
    return invocation_write_report(invocation, sections, COUNT(sections), plan);
}

static int run(struct invocation *invocation)
{
    struct remote_reply reply = {.status = 0};
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    json_t *request = invocation_read_document(invocation, invocation_word(invocation, 0));
    const bool good = request != NULL &&
                      post_document(invocation, "/v1/slot-plans", request, false, &reply) &&
                      write_plan(invocation, reply.json);
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_slots = {
    .name = "slots",
    .summary = "Divide slots between maps and reduces for a batch of jobs.",
    .description =
        "Reads the number of slots and the jobs from a JSON or YAML file, or from standard input "
        "(-), as POST /v1/slot-plans takes them. Jobs have maps and reduces and how long they "
        "take, or name an application whose recent runs show it. Shows the best division of the "
        "slots, how long all jobs take by division, and when each job begins and ends.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor slots batch.yaml\n"
                "  echo '{slots: 9, concurrency: 2, jobs: [{name: a, application: etl}]}' | "
                "provisor slots -",
    .groups = {&group},
    .run = run};
