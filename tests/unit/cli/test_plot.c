#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/canvas.h"
#include "cli/terminal/gantt.h"
#include "cli/terminal/plot.h"
#include "cli/terminal/scale.h"
#include "cli/terminal/terminal.h"

static void read_utf8(void)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
}

TestSuite(cli_plot, .timeout = 10, .init = read_utf8);

/* --- scales --- */

Test(cli_plot, steps_are_round)
{
    cr_assert_float_eq(scale_step(10, 5, 0), 2, 1e-12);
    cr_assert_float_eq(scale_step(97, 5, 0), 20, 1e-12);
    cr_assert_float_eq(scale_step(400, 5, 0), 100, 1e-12);
    cr_assert_float_eq(scale_step(0.3, 5, 0), 0.1, 1e-12);
    cr_assert_float_eq(scale_step(3, 10, 1), 1, 1e-12, "no step between executors");
    cr_assert_float_eq(scale_step(0, 5, 0), 1, 1e-12);
    cr_assert_float_eq(scale_step((double)NAN, 5, 0), 1, 1e-12);
}

static void expect_label(double value, double step, const char *wanted)
{
    char text[32];
    scale_label(value, step, text, sizeof text);
    cr_assert_str_eq(text, wanted);
}

Test(cli_plot, labels_have_the_digits_of_the_step)
{
    expect_label(20, 10, "20");
    expect_label(0.5, 0.1, "0.5");
    expect_label(0.30000000000000004, 0.1, "0.3");
    expect_label(1, 0.25, "1.0");
    expect_label(-1e-17, 0.5, "0.0");
    expect_label(2e9, 1e9, "2e+09");
}

/* --- the field --- */

/* The rows of a canvas, a line feed behind each. */
static char *rows_of(const struct canvas *canvas)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    for (size_t row = 0; row < canvas->rows; row++) {
        canvas_write_row(canvas, row, out, false);
        fputc('\n', out);
    }
    (void)fclose(out);
    return text;
}

static void expect_rows(const struct canvas *canvas, const char *wanted)
{
    char *text = rows_of(canvas);
    cr_assert_str_eq(text, wanted);
    free(text);
}

Test(cli_plot, dots_of_braille)
{
    struct canvas canvas;
    cr_assert(canvas_init(&canvas, 2, 1, false));
    const long left[2] = {0, 0};
    const long right[2] = {3, 3};
    canvas_line(&canvas, left, left, 0, false);
    expect_rows(&canvas, "⠁ \n");
    canvas_line(&canvas, left, right, 0, false);
    expect_rows(&canvas, "⠑⢄\n");
    canvas_free(&canvas);
}

Test(cli_plot, what_lies_outside_is_not_drawn)
{
    struct canvas canvas;
    cr_assert(canvas_init(&canvas, 3, 2, true));
    const long from[2] = {-5, 1};
    const long to[2] = {50, 1};
    canvas_line(&canvas, from, to, 1, false);
    canvas_mark(&canvas, 3, 0, 0);
    canvas_mark(&canvas, -1, 0, 0);
    canvas_shade(&canvas, 7, -9, 90, 0);
    expect_rows(&canvas, "   \n+++\n");
    canvas_free(&canvas);
}

Test(cli_plot, lines_are_above_bands_and_marks_above_lines)
{
    struct canvas canvas;
    cr_assert(canvas_init(&canvas, 3, 1, true));
    const long from[2] = {1, 0};
    const long to[2] = {2, 0};
    for (long x = 0; x < 3; x++)
        canvas_shade(&canvas, x, 0, 0, 0);
    canvas_line(&canvas, from, to, 0, false);
    canvas_mark(&canvas, 2, 0, 0);
    expect_rows(&canvas, ".*o\n");
    canvas_free(&canvas);
}

Test(cli_plot, broken_lines_have_gaps)
{
    struct canvas canvas;
    cr_assert(canvas_init(&canvas, 8, 1, true));
    const long from[2] = {0, 0};
    const long to[2] = {7, 0};
    canvas_line(&canvas, from, to, 0, true);
    expect_rows(&canvas, "**  **  \n");
    canvas_free(&canvas);
}

/* --- plots --- */

static char *drawn(const struct plot *plot, bool good)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert_eq(plot_draw(out, plot), good);
    (void)fclose(out);
    return text;
}

static const struct plot_point falling[] = {{1, 100, 90, 110, false},
                                            {2, 60, 50, 70, false},
                                            {4, 40, 35, 45, false},
                                            {8, 30, 20, 40, true}};
static const struct plot_series one[] = {{"64", falling, 4}};

static struct plot plot_of(size_t width, bool ascii)
{
    static const struct plot_mark marks[] = {{1, 98, 0}, {4, 42, 0}, {16, 10, 0}};
    return (struct plot){.x_label = "executors",
                         .y_label = "duration in s",
                         .series = one,
                         .n_series = 1,
                         .marks = marks,
                         .n_marks = 3,
                         .width = width,
                         .rows = 8,
                         .ascii = ascii};
}

Test(cli_plot, a_curve_in_ascii)
{
    struct plot plot = plot_of(40, true);
    char *text = drawn(&plot, true);
    cr_assert(strncmp(text, "duration in s\n", 14) == 0);
    cr_assert(strstr(text, "100 +") != NULL || strstr(text, "150 +") != NULL, "%s", text);
    cr_assert(strstr(text, "  0 +") != NULL, "%s", text);
    cr_assert(strstr(text, "executors\n") != NULL);
    cr_assert(strstr(text, " 64\n") != NULL, "the label of the series at its end: %s", text);
    size_t marks = 0;
    for (const char *at = text; (at = strchr(at, 'o')) != NULL && at < strstr(text, "executors");
         at++)
        marks++;
    cr_assert_eq(marks, 3, "one in the heading, two runs; that beyond the axis is left out: %s",
                 text);
    for (const char *at = text; *at != '\0'; at++)
        cr_assert((unsigned char)*at < 0x80);
    free(text);
}

static void expect_width(size_t width, bool ascii)
{
    struct plot plot = plot_of(width, ascii);
    char *text = drawn(&plot, true);
    size_t lines = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        cr_assert_leq(text_columns(line), width, "%s", line);
        lines++;
    }
    cr_assert_eq(lines, 1 + plot.rows + 3, "heading, field, axis, its labels, its name");
    free(text);
}

Test(cli_plot, no_line_is_wider_than_the_terminal)
{
    static const size_t widths[] = {40, 41, 79, 80, 120, 300};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        expect_width(widths[i], true);
        expect_width(widths[i], false);
    }
}

Test(cli_plot, several_series_have_a_label_each)
{
    static const struct plot_point low[] = {{1, 10, (double)NAN, (double)NAN, false},
                                            {8, 9, (double)NAN, (double)NAN, false}};
    static const struct plot_point gone[] = {{1, (double)NAN, 0, 0, false}};
    static const struct plot_series all[] = {
        {"large", falling, 4}, {"small", low, 2}, {"same", low, 2}, {"none", gone, 1}};
    struct plot plot = plot_of(60, true);
    plot.series = all;
    plot.n_series = 4;
    char *text = drawn(&plot, true);
    cr_assert(strstr(text, " large\n") != NULL && strstr(text, " small\n") != NULL &&
                  strstr(text, " same\n") != NULL,
              "%s", text);
    cr_assert_null(strstr(text, "none"), "it has no end");
    free(text);
}

Test(cli_plot, without_values_there_is_no_plot)
{
    struct plot plot = plot_of(80, true);
    plot.n_series = 0;
    free(drawn(&plot, false));
    static const struct plot_point nothing[] = {{1, (double)NAN, (double)NAN, (double)NAN, false}};
    static const struct plot_series empty[] = {{"64", nothing, 1}};
    plot = plot_of(80, true);
    plot.series = empty;
    plot.n_marks = 0;
    free(drawn(&plot, false));
}

Test(cli_plot, a_single_point_is_drawn)
{
    static const struct plot_series single[] = {{"64", falling, 1}};
    struct plot plot = plot_of(80, false);
    plot.series = single;
    free(drawn(&plot, true));
}

Test(cli_plot, bands_do_not_press_the_curves_together)
{
    static const struct plot_point wide[] = {{1, 10, 0, 1e9, false}, {2, 8, 0, 1e9, false}};
    static const struct plot_series series[] = {{"1", wide, 2}};
    struct plot plot = plot_of(60, true);
    plot.series = series;
    plot.n_marks = 0;
    char *text = drawn(&plot, true);
    cr_assert(strstr(text, "20 +") != NULL, "%s", text);
    free(text);
}

/* --- Gantt charts --- */

static char *chart_of(const struct gantt *gantt, bool good)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert_eq(gantt_draw(out, gantt), good);
    (void)fclose(out);
    return text;
}

Test(cli_plot, a_chart_has_a_row_a_core)
{
    static const struct gantt_bar bars[] = {{0, 0, 5, 0}, {1, 0, 10, 1}, {0, 5, 7.5, 1}};
    static const char *const jobs[] = {"nightly", "report"};
    struct gantt gantt = {"core", "s", bars, 3, jobs, 2, 29, 32};
    char *text = chart_of(&gantt, true);
    cr_assert_str_eq(text, "core 0 |AAAAAAAAAABBBBB.....|\n"
                           "core 1 |BBBBBBBBBBBBBBBBBBBB|\n"
                           "        0         5 s\n"
                           "A nightly  B report\n");
    free(text);
}

Test(cli_plot, short_tasks_are_seen_and_many_cores_counted)
{
    static const struct gantt_bar bars[] = {{0, 0, 100, 0}, {1, 50, 50.001, 1}, {40, 0, 1, 0}};
    static const char *const jobs[] = {"a", "b"};
    struct gantt gantt = {"core", "s", bars, 3, jobs, 2, 60, 2};
    char *text = chart_of(&gantt, true);
    cr_assert(strstr(text, "B") != NULL && strstr(text, "and 39 more\n") != NULL, "%s", text);
    free(text);
    gantt.n = 0;
    free(chart_of(&gantt, false));
}

Test(cli_plot, letters_of_jobs)
{
    cr_assert_eq(gantt_letter(0), 'A');
    cr_assert_eq(gantt_letter(25), 'Z');
    cr_assert_eq(gantt_letter(26), 'a');
    cr_assert_eq(gantt_letter(51), 'z');
    cr_assert_eq(gantt_letter(52), '#');
}

Test(cli_plot, texts_do_not_command_the_terminal)
{
    char text[64] = "a\033[2Jb\r\x7f\xc2\x9b"
                    "c \xc3\xbc \xe2\x80\xae z\xe2\x80\xa6";
    text_defuse(text, sizeof text);
    cr_assert_str_eq(text, "a [2Jb  \\u009bc \xc3\xbc \\u202e z\xe2\x80\xa6");
    for (size_t room = 2; room < 14; room++) {
        char cut[16] = "b\xe2\x80\xae"
                       "cde";
        text_defuse(cut, room < 8 ? 8 : room);
        cr_expect_eq(strncmp(cut, "b\\u202ecde", strlen(cut)), 0, "%s", cut);
        cr_expect_lt(strlen(cut), room < 8 ? 8 : room);
    }
    static const struct gantt_bar bars[] = {{0, 0, 1, 0}};
    static const char *const jobs[] = {"evil\033]0;title\a"};
    struct gantt gantt = {"core", "s", bars, 1, jobs, 1, 40, 2};
    char *chart = chart_of(&gantt, true);
    cr_assert_null(strchr(chart, '\033'));
    free(chart);
}
