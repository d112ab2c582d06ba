#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "cli/terminal/plot.h"

enum { PLOT_ROWS = 16, PLOT_SERIES_MAX = 6, PLOT_COUNTS_MAX = 32, RECORDED_MAX = 200 };

static const struct option_spec options[] = {
    {"sizes", 0, OPTION_TEXT, "SIZE,...", "Problem sizes; those of the runs without it.", false},
    {"executors", 0, OPTION_TEXT, "N,...", "Executor counts.", false},
    {"model", 0, OPTION_TEXT, "KIND",
     "Predict with this kind of model; with what advice would predict without it.", false},
    {"label", 0, OPTION_TEXT, "KEY:VALUE", "For runs with this label; may be repeated.", true},
    {"show", 0, OPTION_CHOICE, "time|speedup", "What the plot shows (time).", false},
    {"ascii", 0, OPTION_FLAG, NULL, "Draw with characters of ASCII alone.", false},
    {"no-plot", 0, OPTION_FLAG, NULL, "The table on a terminal, too.", false},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

/* --- the table --- */

/* A row a point: the points of all sizes with their size. */
static json_t *point_rows(const json_t *surface)
{
    json_t *rows = json_array();
    for (size_t s = 0; s < json_array_size(surface); s++) {
        const json_t *size = json_array_get(surface, s);
        const json_t *points = json_object_get(size, "points");
        for (size_t i = 0; i < json_array_size(points); i++) {
            json_t *row = json_pack("{s:O}", "problem_size", json_object_get(size, "problem_size"));
            (void)json_object_set(row, "problem_size_measured_by",
                                  json_object_get(size, "problem_size_measured_by"));
            (void)json_object_update(row, json_array_get(points, i));
            (void)json_array_append_new(rows, row);
        }
    }
    return rows;
}

static const struct column point_columns[] = {
    {"size", "problem_size", CELL_SIZE, NULL},
    {"executors", "executors", CELL_COUNT, NULL},
    {"takes", "duration_s", CELL_SECONDS, NULL},
    {"at least", "interval_s.0", CELL_SECONDS, NULL},
    {"at most", "interval_s.1", CELL_SECONDS, NULL},
    {"speedup", "speedup", CELL_NUMBER, NULL},
    {"extrapolated", "extrapolation", CELL_YES, NULL},
};

static const struct column best_columns[] = {
    {"size", "problem_size", CELL_SIZE, NULL},
    {"executors", "executors", CELL_COUNT, NULL},
    {"takes", "duration_s", CELL_SECONDS, NULL},
    {"speedup", "speedup", CELL_NUMBER, NULL},
    {"extrapolated", "extrapolation", CELL_YES, NULL},
    {"more are faster still", "still_improving", CELL_YES, NULL},
};

/* --- the plot --- */

struct drawn {
    const json_t *reply; /* with more executor counts than the table, unless they were chosen */
    const json_t *runs;  /* recorded */
    const char *measure; /* of problem sizes; NULL: unknown */
    bool speedup;
    bool ascii;
};

static double coordinate(const json_t *point, bool speedup)
{
    return json_number_at(point, speedup ? "speedup" : "duration_s", (double)NAN);
}

static bool fill_points(struct plot_series *series, const json_t *points, bool speedup)
{
    size_t n = json_array_size(points);
    struct plot_point *made = calloc(n + 1, sizeof *made);
    for (size_t i = 0; made != NULL && i < n; i++) {
        const json_t *point = json_array_get(points, i);
        bool band = !speedup;
        made[i] = (struct plot_point){
            .x = json_number_at(point, "executors", 0),
            .y = coordinate(point, speedup),
            .low = band ? json_number_at(point, "interval_s.0", (double)NAN) : (double)NAN,
            .high = band ? json_number_at(point, "interval_s.1", (double)NAN) : (double)NAN,
            .beyond = json_true_at(point, "extrapolation")};
    }
    series->points = made;
    series->n = made == NULL ? 0 : n;
    return made != NULL;
}

/* The speedup of a recorded run needs a time on one executor: that of the model. */
static double time_on_one(const json_t *surface, size_t series)
{
    const json_t *point =
        json_array_get(json_object_get(json_array_get(surface, series), "points"), 0);
    return json_number_at(point, "duration_s", (double)NAN) *
           json_number_at(point, "speedup", (double)NAN);
}

static size_t fill_marks(const struct drawn *drawn, struct plot_mark *marks, size_t n_series)
{
    const json_t *surface = json_object_get(drawn->reply, "surface");
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(drawn->runs); i++) {
        const json_t *recorded = json_array_get(drawn->runs, i);
        double size = json_number_at(recorded, "problem_size", -1);
        double took = json_number_at(recorded, "duration_s", (double)NAN);
        for (size_t s = 0; s < n_series; s++) {
            double of = json_number_at(json_array_get(surface, s), "problem_size", 0);
            if (fabs(size - of) > 0.01 * of || isnan(took))
                continue;
            double y = drawn->speedup ? time_on_one(surface, s) / took : took;
            marks[n++] = (struct plot_mark){json_number_at(recorded, "executors", -1), y, s};
        }
    }
    return n;
}

static void write_legend(FILE *out, const struct drawn *drawn, const struct terminal *terminal)
{
    char legend[240];
    (void)snprintf(legend, sizeof legend,
                   "Predicted by %s. At the right: problem size.%s %s recorded runs.%s",
                   json_text_at(drawn->reply, "model", "-"),
                   drawn->speedup ? ""
                   : drawn->ascii ? " Dots: interval."
                                  : " Shaded: interval.",
                   drawn->ascii ? "o" : "●",
                   drawn->ascii ? " Gaps: extrapolated." : " Broken line: extrapolated.");
    table_write_wrapped(out, terminal, 0, legend);
}

static bool draw(FILE *out, const struct drawn *drawn, const struct terminal *terminal)
{
    struct plot_series series[PLOT_SERIES_MAX] = {{.n = 0}};
    static char labels[PLOT_SERIES_MAX][QUANTITY_TEXT_MAX];
    const json_t *surface = json_object_get(drawn->reply, "surface");
    size_t n =
        json_array_size(surface) < PLOT_SERIES_MAX ? json_array_size(surface) : PLOT_SERIES_MAX;
    struct plot_mark *marks =
        calloc(json_array_size(drawn->runs) * PLOT_SERIES_MAX + 1, sizeof *marks);
    bool good = marks != NULL;
    for (size_t s = 0; s < n && good; s++) {
        const json_t *size = json_array_get(surface, s);
        (void)snprintf(
            labels[s], sizeof labels[s], "%s",
            quantity_problem_size(json_number_at(size, "problem_size", 0), drawn->measure).text);
        char *blocks = strstr(labels[s], " in ");
        if (blocks != NULL)
            *blocks = '\0';
        series[s].label = labels[s];
        good = fill_points(&series[s], json_object_get(size, "points"), drawn->speedup);
    }
    struct plot plot = {.x_label = "executors",
                        .y_label = drawn->speedup ? "speedup over one executor" : "duration in s",
                        .series = series,
                        .n_series = n,
                        .marks = marks,
                        .n_marks = good ? fill_marks(drawn, marks, n) : 0,
                        .width = terminal->width,
                        .rows = PLOT_ROWS,
                        .ascii = drawn->ascii,
                        .color = terminal->color_out};
    good = good && plot_draw(out, &plot);
    for (size_t s = 0; s < n; s++)
        free((void *)(uintptr_t)series[s].points);
    free(marks);
    return good;
}

static void draw_curves(FILE *out, const struct terminal *terminal, const void *context)
{
    const struct drawn *drawn = context;
    if (draw(out, drawn, terminal))
        write_legend(out, drawn, terminal);
    else
        fputs("There is nothing to draw.\n", out);
}

/* --- what is asked for --- */

static void add_options(struct query *query)
{
    query_begin(query, query->invocation);
    query_sizes(query, "sizes", "problem_sizes");
    query_option(query, "model", "model");
    query_option(query, "label", "label");
}

/* From the least to the most, all of them or about PLOT_COUNTS_MAX, denser where curves bend. */
static void dense_counts(double least, double most, char *out, size_t room)
{
    size_t at = 0;
    long before = 0;
    for (int i = 0; i < PLOT_COUNTS_MAX && at + 16 < room; i++) {
        double share = (double)i / (PLOT_COUNTS_MAX - 1);
        double count =
            most - least < PLOT_COUNTS_MAX ? least + i : least + (most - least) * share * share;
        long next = lround(count);
        if (next <= before || (double)next > most)
            continue;
        before = next;
        at += (size_t)snprintf(out + at, room - at, "%s%ld", at > 0 ? "," : "", next);
    }
}

/* How far a curve goes beyond the executors that were run. */
static const double beyond_observed = 1.25;

/* The same with as many executor counts as make a curve; the reply itself where they were chosen. */
static json_t *denser(struct invocation *invocation, const char *path, json_t *reply)
{
    static struct query query;
    char counts[512];
    const json_t *all = json_object_get(reply, "executor_counts");
    double most = json_number_value(json_array_get(all, json_array_size(all) - 1));
    double least = json_number_value(json_array_get(all, 0));
    if (argument_given(invocation->arguments, "executors") || !(most >= least) || least < 1)
        return json_incref(reply);
    query.invocation = invocation;
    add_options(&query);
    dense_counts(least, ceil(most * beyond_observed), counts, sizeof counts);
    query_add(&query, "executors", counts);
    json_t *more = remote_get(invocation->remote, path, query.items, NULL);
    return more == NULL ? json_incref(reply) : more;
}

static json_t *recorded_runs(struct invocation *invocation)
{
    static struct query query;
    char path[PATH_TEXT];
    query_begin(&query, invocation);
    query_option(&query, "label", "label");
    query_add(&query, "succeeded", "true");
    query_add(&query, "fields", "problem_size,executors,duration_s");
    if (!path_of_word(invocation, "/v1/applications/", 0, "/runs", path))
        return NULL;
    return remote_list(invocation->remote, path, query.items, RECORDED_MAX, &invocation->failure);
}

static bool write_surface(struct invocation *invocation, const char *path, json_t *reply)
{
    const char *show = argument_text(invocation->arguments, "show");
    bool plots = invocation_for_people(invocation) && invocation->outputs.terminal.out &&
                 !argument_given(invocation->arguments, "no-plot");
    json_t *curves = plots ? denser(invocation, path, reply) : NULL;
    json_t *runs = plots ? recorded_runs(invocation) : NULL;
    json_t *surface = rows_with_size_unit(invocation, json_object_get(reply, "surface"), NULL);
    json_t *best =
        rows_with_size_unit(invocation, json_object_get(reply, "best_executors_by_size"), NULL);
    json_t *rows = point_rows(surface);
    struct drawn drawn = {.reply = curves,
                          .measure = json_text_at(best, "0.problem_size_measured_by", NULL),
                          .runs = runs,
                          .speedup = show != NULL && strcmp(show, "speedup") == 0,
                          .ascii = invocation_draws_ascii(invocation)};
    const struct section sections[] = {{.value = rows,
                                        .columns = point_columns,
                                        .n_columns = COUNT(point_columns),
                                        .draw = plots ? draw_curves : NULL,
                                        .context = &drawn},
                                       {.title = "The fastest executors of each size",
                                        .value = best,
                                        .columns = best_columns,
                                        .n_columns = COUNT(best_columns)},
                                       {.text = json_text_at(reply, "warnings.0.message", "")}};
    bool good = (!plots || runs != NULL) &&
                invocation_write_report(invocation, sections, COUNT(sections), reply);
    json_decref(curves);
    json_decref(runs);
    json_decref(rows);
    json_decref(surface);
    json_decref(best);
    return good;
}

static int run(struct invocation *invocation)
{
    static struct query query;
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/applications/", 0, "/speedup", path))
        return invocation_failed(invocation);
    query.invocation = invocation;
    add_options(&query);
    query_option(&query, "executors", "executors");
    json_t *reply = query.failed
                        ? NULL
                        : remote_get(invocation->remote, path, query.n == 0 ? NULL : query.items,
                                     &invocation->failure);
    bool good = reply != NULL && write_surface(invocation, path, reply);
    json_decref(reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_speedup = {
    .name = "speedup",
    .summary = "Plot duration or speedup over executors.",
    .description =
        "On a terminal a plot: a curve for each problem size with the interval around it, and the "
        "runs that were recorded. In a pipe, and with --no-plot, a table. Beyond the executors "
        "that "
        "were run the curve is broken: it is extrapolated.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor speedup nightly-etl\n"
                "  provisor speedup nightly-etl --sizes 64 --show speedup\n"
                "  provisor speedup nightly-etl --sizes 8GiB,16GiB --executors 4,8,16 -o csv",
    .groups = {&group},
    .run = run};
