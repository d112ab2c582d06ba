/*
 * How well the models predict public runs, by the protocols of docs/accuracy.md:
 *
 *     protocols [--splits N] FILE.tsv ...
 *
 * Of the protocol of C3O's authors ("F") it draws N random splits, 10 unless given.
 * Comma-separated lines on standard output:
 *
 *     error,PROTOCOL,APPLICATION,MODEL,MAPE,MEDIAN,P90,IMPOSSIBLE,TESTED
 *     coverage,PROTOCOL,APPLICATION,LEVEL,SHARE,WIDTH,TESTED
 *     place,PROTOCOL,APPLICATION,PLACE,LEVEL,SHARE,WIDTH,TESTED
 *     reliability,PROTOCOL,APPLICATION,PLACE,LEAST,PROMISED,HELD,TESTED
 *     foreseen,PROTOCOL,APPLICATION,PLACE,LEAST,PROMISED,HELD,TESTED
 *
 * Errors are absolute percentage errors over all test rows; IMPOSSIBLE counts predictions that were
 * not positive, or missing, which are scored as 0 s. MODEL is "noise" (the median of the row's own
 * cell), a kind, or "auto". Coverage is that of auto's intervals, WIDTH the median of their upper
 * over their lower end; PLACE says where the row lies from those known. Reliability is of the
 * probability to meet a deadline, for deadlines at tenths of the times of the row's group, in bins
 * of what was promised that begin at LEAST. Those deadlines know the answer: of the slowest
 * scale-out, two of five repetitions keep the ninth, whatever was promised. Deadlines that were
 * `foreseen` are powers of 1.1 times half the median of the known times. What a model is fitted to
 * never holds a row that it is tested on.
 */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/history/label_traits.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/model/process_theta.h"
#include "core/scaling/selection/selection.h"
#include "public_runs.h"

enum { SCALES = 6, MODELS_MAX = 24, LEVELS = 3, ROWS_MAX = 4096 };
enum { SPLITS = 10, SPLITS_MAX = 100 };

static const double scales[SCALES] = {2, 4, 6, 8, 10, 12};
static const double levels[LEVELS] = {0.8, 0.9, 0.95};

/* --- what is gathered over the folds of one protocol and application --- */

struct counter_map {
    const char *model;
    double errors[ROWS_MAX];
    size_t n;
    size_t impossible;
};

struct coverage {
    double widths[ROWS_MAX];
    size_t inside;
    size_t n;
};

enum place { KNOWN, BETWEEN, BELOW, ABOVE, LARGER, PLACES };
static const char *const place_names[PLACES] = {"known", "between", "below", "above", "larger"};

enum { BINS = 7 };
static const double bins[BINS] = {0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95};

/* Of deadlines promised with a probability in a bin. */
struct reliability {
    double promised;
    double held;
    size_t n;
};

static struct {
    struct counter_map tallies[MODELS_MAX];
    size_t n;
    struct coverage coverages[LEVELS];
    struct coverage places[PLACES][LEVELS];
    struct reliability reliabilities[PLACES][BINS];
    struct reliability foreseen[PLACES][BINS];
} board;

static void clear_board(void)
{
    for (size_t k = 0; k < MODELS_MAX; k++)
        board.tallies[k].n = board.tallies[k].impossible = 0;
    for (size_t l = 0; l < LEVELS; l++)
        board.coverages[l].n = board.coverages[l].inside = 0;
    for (size_t p = 0; p < PLACES; p++) {
        for (size_t l = 0; l < LEVELS; l++)
            board.places[p][l].n = board.places[p][l].inside = 0;
        for (size_t b = 0; b < BINS; b++)
            board.reliabilities[p][b] = board.foreseen[p][b] = (struct reliability){.n = 0};
    }
    board.n = 0;
}

static void note_error(const char *model, double predicted, double actual)
{
    size_t k = 0;
    while (k < board.n && strcmp(board.tallies[k].model, model) != 0)
        k++;
    if (k == MODELS_MAX)
        return;
    struct counter_map *tally = &board.tallies[k];
    if (k == board.n) {
        tally->model = model;
        board.n++;
    }
    bool possible = predicted > 0 && isfinite(predicted);
    tally->impossible += !possible;
    if (tally->n < ROWS_MAX)
        tally->errors[tally->n++] = 100 * fabs((possible ? predicted : 0) - actual) / actual;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Type 7, of values in ascending order. */
static double percentile(const double sorted[], size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t below = (size_t)at;
    double above = below + 1 < n ? sorted[below + 1] : sorted[below];
    return sorted[below] + (at - (double)below) * (above - sorted[below]);
}

static void print_coverage(const char *what,
                           const char *protocol,
                           const char *application,
                           const char *place,
                           size_t level,
                           struct coverage *c)
{
    if (c->n == 0)
        return;
    qsort(c->widths, c->n, sizeof *c->widths, ascending);
    printf("%s,%s,%s,%s%s%.2f,%.4f,%.4f,%zu\n", what, protocol, application, place,
           place[0] == '\0' ? "" : ",", levels[level], (double)c->inside / (double)c->n,
           percentile(c->widths, c->n, 0.5), c->n);
}

static void print_reliabilities(const char *what,
                                const char *protocol,
                                const char *application,
                                enum place place,
                                const struct reliability reliabilities[BINS])
{
    for (size_t b = 0; b < BINS; b++) {
        const struct reliability *r = &reliabilities[b];
        if (r->n > 0)
            printf("%s,%s,%s,%s,%.2f,%.4f,%.4f,%zu\n", what, protocol, application,
                   place_names[place], bins[b], r->promised / (double)r->n, r->held / (double)r->n,
                   r->n);
    }
}

static void print_board(const char *protocol, const char *application)
{
    for (size_t k = 0; k < board.n; k++) {
        struct counter_map *tally = &board.tallies[k];
        double mean = 0;
        qsort(tally->errors, tally->n, sizeof *tally->errors, ascending);
        for (size_t i = 0; i < tally->n; i++)
            mean += tally->errors[i] / (double)tally->n;
        printf("error,%s,%s,%s,%.4f,%.4f,%.4f,%zu,%zu\n", protocol, application, tally->model, mean,
               percentile(tally->errors, tally->n, 0.5), percentile(tally->errors, tally->n, 0.9),
               tally->impossible, tally->n);
    }
    for (size_t l = 0; l < LEVELS; l++)
        print_coverage("coverage", protocol, application, "", l, &board.coverages[l]);
    for (size_t p = 0; p < PLACES; p++) {
        for (size_t l = 0; l < LEVELS; l++)
            print_coverage("place", protocol, application, place_names[p], l, &board.places[p][l]);
        print_reliabilities("reliability", protocol, application, (enum place)p,
                            board.reliabilities[p]);
        print_reliabilities("foreseen", protocol, application, (enum place)p, board.foreseen[p]);
    }
}

/* --- one fold: some runs are known, some are asked for --- */

struct fold {
    const struct public_run *known[ROWS_MAX];
    size_t n_known;
    const struct public_run *asked[ROWS_MAX];
    size_t n_asked;
    size_t n_labels;
    bool pooled;  /* known runs of other groups than that of the asked are runs of other labels */
    bool medians; /* each run is the median of its cell */
    struct process_theta theta; /* of the last fold; it serves folds with the same known runs */
};

static struct fold fold;

/* Where the row lies from the known rows of its context: of all sizes, as model_predict sees it. */
static enum place place_of(const struct public_run *run)
{
    double least = (double)INFINITY;
    double most = 0;
    double largest = 0;
    bool known = false;
    for (size_t i = 0; i < fold.n_known; i++) {
        const struct public_run *other = fold.known[i];
        if (fold.pooled && other->group != run->group)
            continue;
        least = fmin(least, other->executors);
        most = fmax(most, other->executors);
        largest = fmax(largest, other->problem_size);
        known = known || other->executors == run->executors;
    }
    return run->problem_size > largest ? LARGER
           : run->executors < least    ? BELOW
           : run->executors > most     ? ABOVE
           : known                     ? KNOWN
                                       : BETWEEN;
}

static void count_inside(struct coverage *c, const double interval_s[2], double duration_s)
{
    bool unbounded = isnan(interval_s[1]);
    double low = isnan(interval_s[0]) ? 0 : interval_s[0];
    c->inside += low <= duration_s && (unbounded || duration_s <= interval_s[1]);
    if (c->n < ROWS_MAX)
        c->widths[c->n++] = unbounded || !(low > 0) ? (double)INFINITY : interval_s[1] / low;
}

static void score_intervals(const struct model *model, const struct public_run *run)
{
    enum place place = place_of(run);
    for (size_t l = 0; l < LEVELS; l++) {
        struct model_prediction there;
        struct model_spread spread = model_spread(model, levels[l]);
        model_predict(model, &spread, run->problem_size, run->executors, &there);
        count_inside(&board.coverages[l], there.interval_s, run->duration_s);
        count_inside(&board.places[place][l], there.interval_s, run->duration_s);
    }
}

/* The times of the row's group: those known, and perhaps those asked for. */
static size_t
gather_times(const struct public_run *run, bool known_only, double times[2 * ROWS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < fold.n_known; i++)
        if (fold.known[i]->group == run->group || (known_only && !fold.pooled))
            times[n++] = fold.known[i]->duration_s;
    for (size_t i = 0; i < fold.n_asked && !known_only; i++)
        if (fold.asked[i]->group == run->group)
            times[n++] = fold.asked[i]->duration_s;
    qsort(times, n, sizeof *times, ascending);
    return n;
}

static void score_deadline(const struct predictive *predictive,
                           double deadline_s,
                           double duration_s,
                           struct reliability reliabilities[BINS])
{
    double promised = predictive_probability(predictive, deadline_s);
    size_t bin = BINS - 1;
    if (isnan(promised))
        return;
    while (bins[bin] > promised)
        bin--;
    struct reliability *r = &reliabilities[bin];
    r->promised += promised;
    r->held += duration_s <= deadline_s;
    r->n++;
}

static void score_deadlines(const struct model *model, const struct public_run *run)
{
    enum { FORESEEN = 31 };
    static double times[2 * ROWS_MAX];
    enum place place = place_of(run);
    struct predictive predictive;
    if (!model_predictive(model, run->problem_size, run->executors, &predictive))
        return;
    size_t n = gather_times(run, false, times);
    /* Between two times, so that no deadline is one of them. */
    for (int tenth = 1; tenth < 10; tenth++)
        score_deadline(&predictive, percentile(times, n, tenth / 10.0) * 1.0001, run->duration_s,
                       board.reliabilities[place]);
    n = gather_times(run, true, times);
    for (int k = 0; k < FORESEEN; k++)
        score_deadline(&predictive, percentile(times, n, 0.5) / 2 * pow(1.1, k), run->duration_s,
                       board.foreseen[place]);
}

/* Do the repetitions of the row's cell, all of them asked for, differ by more than 1.3? Such cells
 * are scored with the others, and left out once more beside. */
static bool is_erratic(const struct public_run *run)
{
    double least = run->duration_s;
    double most = run->duration_s;
    for (size_t i = 0; i < fold.n_asked; i++) {
        const struct public_run *other = fold.asked[i];
        if (other->group != run->group || other->executors != run->executors)
            continue;
        least = fmin(least, other->duration_s);
        most = fmax(most, other->duration_s);
    }
    return most > 1.3 * least;
}

static void score_model(const char *name, const struct model *model)
{
    struct model_spread none = MODEL_NO_SPREAD;
    for (size_t i = 0; i < fold.n_asked; i++) {
        const struct public_run *run = fold.asked[i];
        struct model_prediction there = {.duration_s = (double)NAN};
        if (model != NULL)
            model_predict(model, &none, run->problem_size, run->executors, &there);
        note_error(name, there.duration_s, run->duration_s);
        if (model == NULL || strcmp(name, "auto") != 0)
            continue;
        if (!fold.medians && !is_erratic(run))
            note_error("auto (cells within 1.3)", there.duration_s, run->duration_s);
        score_intervals(model, run);
        score_deadlines(model, run);
    }
}

/* The floor: the median of the rows alike in everything. Under D runs of one size count as alike.
 */
static void score_noise(void)
{
    double cell[ROWS_MAX];
    for (size_t i = 0; i < fold.n_asked; i++) {
        size_t n = 0;
        for (size_t j = 0; j < fold.n_asked; j++)
            if (fold.asked[j]->group == fold.asked[i]->group &&
                fold.asked[j]->executors == fold.asked[i]->executors)
                cell[n++] = fold.asked[j]->duration_s;
        qsort(cell, n, sizeof *cell, ascending);
        note_error("noise", percentile(cell, n, 0.5), fold.asked[i]->duration_s);
    }
}

/* All labels, whatever they explain. */
static enum pv_code set_traits(struct observation rows[], struct arena *arena, struct pv_error *err)
{
    static struct run_label_list labels[ROWS_MAX];
    struct strview keys[1 + PUBLIC_INPUTS_MAX];
    for (size_t i = 0; i < fold.n_known; i++)
        labels[i] = (struct run_label_list){fold.known[i]->labels, fold.n_labels};
    for (size_t k = 0; k < fold.n_labels; k++)
        keys[k] = labels[0].labels[k].key;
    return label_traits_set(rows, labels, fold.n_known, keys, fold.n_labels, arena, err);
}

static bool score_fold(void)
{
    static struct observation rows[ROWS_MAX];
    struct model_selection selection;
    struct pv_error err = {0};
    struct arena arena;
    for (size_t i = 0; i < fold.n_known; i++) {
        rows[i] = model_seen(fold.known[i]->problem_size, fold.known[i]->executors,
                             fold.known[i]->duration_s, (double)NAN);
        rows[i].theta = &fold.theta;
        if (fold.pooled && fold.known[i]->group != fold.asked[0]->group)
            rows[i].context = (unsigned)fold.known[i]->group + 2;
    }
    arena_init(&arena, 0);
    enum pv_code code = fold.pooled ? set_traits(rows, &arena, &err) : PV_OK;
    if (code == PV_OK)
        code = model_select(rows, fold.n_known, &arena, &selection, &err);
    if (code == PV_OK) {
        if (!fold.medians)
            score_noise();
        for (size_t k = 0; k < selection.n; k++) {
            const struct model_candidate *candidate = &selection.candidates[k];
            score_model(candidate->kind->name,
                        candidate->standing == MODEL_NOT_FITTED ? NULL : &candidate->fit.model);
            if (candidate->standing != MODEL_NOT_FITTED && candidate->fit.theta != NULL)
                fold.theta = *candidate->fit.theta;
        }
        score_model("auto", selection.selected == NULL ? NULL : &selection.selected->fit.model);
    } else {
        fprintf(stderr, "%s\n", err.detail);
    }
    arena_fini(&arena);
    return code == PV_OK;
}

/* --- the protocols --- */

static bool has_all_scales(const struct public_table *table, size_t group)
{
    bool seen[SCALES] = {false};
    bool all = true;
    for (size_t i = 0; i < table->n; i++)
        for (size_t s = 0; table->runs[i].group == group && s < SCALES; s++)
            seen[s] = seen[s] || table->runs[i].executors == scales[s];
    for (size_t s = 0; s < SCALES; s++)
        all = all && seen[s];
    return all;
}

static const struct public_run *first_of(const struct public_table *table, size_t group)
{
    size_t i = 0;
    while (table->runs[i].group != group)
        i++;
    return &table->runs[i];
}

static bool comes_before(const struct public_table *table,
                         const struct public_run *a,
                         const struct public_run *b)
{
    if (a->problem_size != b->problem_size)
        return a->problem_size < b->problem_size;
    for (size_t k = 0; k < table->n_labels; k++) {
        int order = strcmp(a->labels[k].value.at, b->labels[k].value.at);
        if (order != 0)
            return order < 0;
    }
    return false;
}

/* Runs of a group with executors in [from, to] are asked for, the others are known. */
static bool score_range(const struct public_table *table, size_t group, double from, double to)
{
    fold.n_known = fold.n_asked = 0;
    for (size_t i = 0; i < table->n; i++) {
        const struct public_run *run = &table->runs[i];
        if (run->group != group)
            continue;
        if (run->executors >= from && run->executors <= to)
            fold.asked[fold.n_asked++] = run;
        else
            fold.known[fold.n_known++] = run;
    }
    return score_fold();
}

/* Every context group, with each of the scale-outs first to last (or all above) asked for. */
static bool score_groups(
    const struct public_table *table, const char *protocol, size_t first, size_t last, bool at_once)
{
    bool good = true;
    clear_board();
    for (size_t group = 0; good && group < table->groups; group++) {
        if (!has_all_scales(table, group))
            continue;
        for (size_t s = first; good && s <= last && !at_once; s++)
            good = score_range(table, group, scales[s], scales[s]);
        if (at_once)
            good = score_range(table, group, scales[first], scales[last]);
    }
    print_board(protocol, table->name);
    return good;
}

static bool score_largest(const struct public_table *table, size_t family)
{
    double largest = 0;
    double sizes[3] = {0};
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++) {
        const struct public_run *run = &table->runs[i];
        bool known = run->family != family;
        for (size_t s = 0; s < n; s++)
            known = known || sizes[s] == run->problem_size;
        if (!known && n < 3)
            sizes[n++] = run->problem_size;
        if (run->family == family)
            largest = fmax(largest, run->problem_size);
    }
    if (n < 3)
        return true;
    fold.n_known = fold.n_asked = 0;
    for (size_t i = 0; i < table->n; i++) {
        const struct public_run *run = &table->runs[i];
        if (run->family == family && run->problem_size == largest)
            fold.asked[fold.n_asked++] = run;
        else if (run->family == family)
            fold.known[fold.n_known++] = run;
    }
    return score_fold();
}

/* Groups are numbered in the order of data size, machine and inputs. */
static size_t number_of(const struct public_table *table, size_t group)
{
    const struct public_run *mine = first_of(table, group);
    size_t before = 0;
    for (size_t other = 0; other < table->groups; other++)
        before += has_all_scales(table, other) && other != group &&
                  comes_before(table, first_of(table, other), mine);
    return before;
}

/* The pooled reference of B: in rotation f, group i is asked for scale-out (i + f) mod 6; all other
 * runs but those that other groups are asked for are known. */
static bool score_rotation(const struct public_table *table, const size_t numbers[], size_t f)
{
    bool good = true;
    for (size_t group = 0; good && group < table->groups; group++) {
        if (numbers[group] == SIZE_MAX)
            continue;
        fold.n_known = fold.n_asked = 0;
        for (size_t i = 0; i < table->n; i++) {
            const struct public_run *run = &table->runs[i];
            size_t number = numbers[run->group];
            bool held = number != SIZE_MAX && run->executors == scales[(number + f) % SCALES];
            if (held && run->group == group)
                fold.asked[fold.n_asked++] = run;
            else if (!held)
                fold.known[fold.n_known++] = run;
        }
        good = score_fold();
    }
    return good;
}

static bool score_pooled(const struct public_table *table)
{
    static size_t numbers[ROWS_MAX];
    bool good = true;
    clear_board();
    for (size_t group = 0; group < table->groups; group++)
        numbers[group] = has_all_scales(table, group) ? number_of(table, group) : SIZE_MAX;
    fold.pooled = true;
    fold.n_labels = table->n_labels;
    for (size_t f = 0; good && f < SCALES; f++)
        good = score_rotation(table, numbers, f);
    fold.pooled = false;
    print_board("B-others", table->name);
    return good;
}

/* --- the protocol of C3O's authors --- */

/* The runs that they use of each application. */
static const struct published {
    const char *application;
    const char *machine_type;
    double executors_above;
} published[] = {{"grep", "m4.2xlarge", 0},
                 {"kmeans", "r4.2xlarge", 2},
                 {"pagerank", "r4.2xlarge", 0},
                 {"sgd", "r4.2xlarge", 2},
                 {"sort", "c4.2xlarge", 0}};

static const struct published *find_published(const char *application)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (strcmp(published[i].application, application) == 0)
            return &published[i];
    return NULL;
}

static bool
is_used(const struct published *by, const struct public_run *run, const struct public_table *table)
{
    bool used = run->executors > by->executors_above;
    for (size_t k = 0; k < table->n_labels; k++) {
        const struct run_label *label = &run->labels[k];
        if (strcmp(label->key.at, "machine_type") == 0)
            used = used && strcmp(label->value.at, by->machine_type) == 0;
        if (strcmp(label->key.at, "line_length") == 0)
            used = used && strcmp(label->value.at, "100") == 0;
    }
    return used;
}

/* The median run of each configuration. */
static size_t find_medians(const struct public_table *table,
                           const struct published *by,
                           struct public_run medians[])
{
    double times[ROWS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++) {
        const struct public_run *run = &table->runs[i];
        size_t found = 0;
        bool first = is_used(by, run, table);
        for (size_t j = 0; first && j < table->n; j++) {
            if (table->runs[j].group != run->group || table->runs[j].executors != run->executors)
                continue;
            first = j >= i;
            times[found++] = table->runs[j].duration_s;
        }
        if (!first)
            continue;
        qsort(times, found, sizeof *times, ascending);
        medians[n] = *run;
        medians[n++].duration_s = percentile(times, found, 0.5);
    }
    return n;
}

/* Asked for are runs of one group; all asked for in this split are unknown. */
static bool
score_split(const struct public_run medians[], size_t n, const bool held[], size_t groups)
{
    bool good = true;
    for (size_t group = 0; good && group < groups; group++) {
        fold.n_known = fold.n_asked = 0;
        for (size_t i = 0; i < n; i++)
            if (!held[i])
                fold.known[fold.n_known++] = &medians[i];
            else if (medians[i].group == group)
                fold.asked[fold.n_asked++] = &medians[i];
        good = fold.n_asked == 0 || score_fold();
    }
    return good;
}

/* F: a tenth of the configurations, rounded up, is drawn at random and left out. */
static bool score_published(const struct public_table *table, size_t splits)
{
    static struct public_run medians[ROWS_MAX];
    const struct published *by = find_published(table->name);
    bool good = true;
    if (by == NULL)
        return true;
    clear_board();
    size_t n = find_medians(table, by, medians);
    struct rng rng = rng_make(1, 0);
    fold.pooled = fold.medians = true;
    fold.n_labels = table->n_labels;
    for (size_t s = 0; good && s < splits; s++) {
        bool held[ROWS_MAX] = {false};
        size_t left = (n + 9) / 10;
        for (size_t i = 0; i < n; i++) {
            held[i] = rng_uniform(&rng) * (double)(n - i) < (double)left;
            left -= held[i];
        }
        good = score_split(medians, n, held, table->groups);
    }
    fold.pooled = fold.medians = false;
    print_board("F", table->name);
    return good;
}

static bool score_table(const struct public_table *table, size_t splits)
{
    bool good = score_groups(table, "A", 3, 5, true) && score_groups(table, "A4", 4, 5, true) &&
                score_groups(table, "B", 0, 5, false) &&
                score_groups(table, "B-interior", 1, 4, false);
    clear_board();
    for (size_t family = 0; good && family < table->families; family++)
        good = score_largest(table, family);
    print_board("D", table->name);
    return good && score_pooled(table) && score_published(table, splits);
}

int main(int argc, char **argv)
{
    bool given = argc > 2 && strcmp(argv[1], "--splits") == 0;
    size_t splits = given ? strtoul(argv[2], NULL, 10) : SPLITS;
    int first = given ? 3 : 1;
    bool good = argc > first && splits <= SPLITS_MAX;
    gsl_set_error_handler_off();
    for (int i = first; good && i < argc; i++) {
        struct public_table table;
        struct arena arena;
        arena_init(&arena, 0);
        good = public_table_read(argv[i], &arena, &table) && score_table(&table, splits);
        arena_fini(&arena);
    }
    return good ? 0 : 1;
}
