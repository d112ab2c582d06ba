#include "esplash_reference.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rounding.h"

struct statistics {
    double tasks;
    double mean_s;
    double deviation_s;
    double rate_per_s;
};

static void expect_near(double got, double want, const char *what)
{
    cr_assert(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-9 * fmax(1, fabs(want)),
              "%s %.17g, not %.17g", what, got, want);
}

static bool above(double a, double b)
{
    return a > b && !rounding_equal(a, b);
}

/* Of a level and type, NAN where nothing is known. */
static struct statistics statistics_of(const struct esplash_case *given, size_t level, size_t type)
{
    struct statistics found = {0, (double)NAN, (double)NAN, (double)NAN};
    double sum_s = 0;
    double square_sum = 0;
    double rates = 0;
    double n_rates = 0;
    for (size_t i = 0; i < given->n; i++) {
        const struct esplash_case_node *node = &given->nodes[i];
        for (size_t f = 0; given->level[i] == level && f < node->n_finished; f++) {
            const struct speculation_finished *row = &node->finished[f];
            double tasks = row->type == type ? (double)row->tasks : 0;
            found.tasks += tasks;
            sum_s += tasks * row->mean_s;
            square_sum += tasks * (row->deviation_s * row->deviation_s + row->mean_s * row->mean_s);
        }
        for (size_t t = 0; given->level[i] == level && t < node->n_running; t++) {
            if (node->running[t].type != type || isnan(node->running[t].progress_rate_per_s))
                continue;
            rates += node->running[t].progress_rate_per_s;
            n_rates++;
        }
    }
    if (found.tasks > 0) {
        found.mean_s = sum_s / found.tasks;
        found.deviation_s = sqrt(fmax(0, square_sum / found.tasks - found.mean_s * found.mean_s));
    }
    if (n_rates > 0)
        found.rate_per_s = rates / n_rates;
    return found;
}

static double
value_of_node(const struct esplash_case *given, const struct esplash_terms *terms, size_t i)
{
    double value = 0;
    for (size_t t = 0; t < given->nodes[i].n_running; t++) {
        const struct speculation_task *task = &given->nodes[i].running[t];
        struct statistics known = statistics_of(given, given->level[i], task->type);
        double own = task->progress_rate_per_s;
        if (known.tasks > 0) {
            double e = task->progress > 0 ? task->elapsed_s / task->progress : task->elapsed_s;
            double spread = fmax(known.deviation_s, terms->deviation_floor * known.mean_s);
            double ratio = fmin(terms->ratio_cap, (e - known.mean_s) / spread);
            value += terms->duration_weight * fmax(0, ratio - 1);
        }
        if (!isnan(own) && known.rate_per_s > 0) {
            double ratio =
                own > 0 ? fmin(terms->ratio_cap, known.rate_per_s / own) : terms->ratio_cap;
            value += terms->rate_weight * fmax(0, ratio - 1);
        }
    }
    return value;
}

/* C(m). */
static double containers_of(const struct esplash_case *given, const bool straggler[], size_t level)
{
    double containers = 0;
    for (size_t i = 0; i < given->n; i++)
        containers +=
            given->level[i] == level && !straggler[i] ? (double)given->nodes[i].containers : 0;
    return containers;
}

/* T(m); NAN: there is none at all. */
static double time_of(const struct esplash_case *given, size_t level, size_t highest, size_t type)
{
    for (size_t l = level; l >= 1; l--) {
        if (statistics_of(given, l, type).tasks > 0)
            return statistics_of(given, l, type).mean_s;
    }
    for (size_t l = level + 1; l <= highest; l++) {
        if (statistics_of(given, l, type).tasks > 0)
            return statistics_of(given, l, type).mean_s;
    }
    return (double)NAN;
}

static double expected_from(const struct esplash_case *given,
                            const bool straggler[],
                            size_t level,
                            size_t highest,
                            size_t type)
{
    double containers = 0;
    double time_s = 0;
    for (size_t m = level; m <= highest; m++) {
        containers += containers_of(given, straggler, m);
        time_s += containers_of(given, straggler, m) * time_of(given, m, highest, type);
    }
    return containers > 0 ? time_s / containers : (double)NAN;
}

static double expect_candidate(const struct esplash_case *given,
                               const bool straggler[],
                               size_t highest,
                               const struct esplash_candidate *got)
{
    size_t level = given->level[got->place.node];
    const struct speculation_task *task = &given->nodes[got->place.node].running[got->place.task];
    size_t best = level;
    if (isnan(time_of(given, level, highest, task->type))) {
        cr_assert_eq(got->reason, ESPLASH_NO_STATISTICS);
        return (double)NAN;
    }
    if (isnan(expected_from(given, straggler, level, highest, task->type))) {
        cr_assert_eq(got->reason, ESPLASH_NO_HOST);
        return (double)NAN;
    }
    cr_assert_eq(got->reason, ESPLASH_ASSESSED);
    cr_assert_eq(got->n_expected, highest - level + 1);
    for (size_t l = level; l <= highest; l++) {
        double expected_s = expected_from(given, straggler, l, highest, task->type);
        expect_near(got->expected_s[l - level], expected_s, "expected_s");
        if (above(expected_from(given, straggler, best, highest, task->type), expected_s))
            best = l;
    }
    cr_assert_eq(got->min_level, best);
    double rest_s = task->progress > 0 ? task->elapsed_s / task->progress - task->elapsed_s
                                       : time_of(given, level, highest, task->type);
    double saved_s = 0;
    double containers = 0;
    for (size_t m = 1; m <= highest; m++) {
        double c = containers_of(given, straggler, m);
        saved_s += m >= best ? c * (rest_s - time_of(given, m, highest, task->type)) : 0;
        containers += c;
    }
    expect_near(got->value_s, saved_s / containers, "value_s");
    return saved_s / containers;
}

static void
expect_table(const struct esplash_case *given, size_t highest, const struct esplash_decision *got)
{
    size_t r = 0;
    for (size_t l = 1; l <= highest; l++) {
        for (size_t t = 0; t < ESPLASH_TYPES_MAX; t++) {
            struct statistics want = statistics_of(given, l, t);
            if (want.tasks <= 0 && isnan(want.rate_per_s))
                continue;
            cr_assert_lt(r, got->n_table);
            cr_assert_eq(got->table[r].level, l);
            cr_assert_eq(got->table[r].type, t);
            expect_near((double)got->table[r].tasks, want.tasks, "tasks");
            expect_near(got->table[r].mean_s, want.mean_s, "mean_s");
            /* The reference subtracts squares, so that it has fewer digits. */
            cr_assert(isnan(want.deviation_s)
                          ? isnan(got->table[r].deviation_s)
                          : fabs(got->table[r].deviation_s - want.deviation_s) < 1e-5);
            expect_near(got->table[r].progress_rate_per_s, want.rate_per_s, "rate");
            r++;
        }
    }
    cr_assert_eq(r, got->n_table);
}

/* The best of the candidates, and the host of its copy. */
static void expect_action(const struct esplash_case *given,
                          const bool straggler[],
                          const double value_s[],
                          const struct esplash_decision *got)
{
    size_t best = SPECULATION_NONE;
    size_t host = SPECULATION_NONE;
    for (size_t c = 0; c < got->n_candidates; c++) {
        if (above(value_s[c], best == SPECULATION_NONE ? 0 : value_s[best]))
            best = c;
    }
    cr_assert_eq(got->action.candidate, best);
    for (size_t i = 0; best != SPECULATION_NONE && i < given->n; i++) {
        size_t room = given->nodes[i].free_containers;
        if (straggler[i] || i == got->candidates[best].place.node || room == 0 ||
            given->level[i] < got->candidates[best].min_level)
            continue;
        if (host == SPECULATION_NONE || given->level[i] > given->level[host] ||
            (given->level[i] == given->level[host] && room > given->nodes[host].free_containers))
            host = i;
    }
    cr_assert_eq(got->action.host, host);
}

/* That they are the right tasks in order, and what each is worth. */
static void expect_list(const struct esplash_case *given,
                        const bool straggler[],
                        size_t highest,
                        const struct esplash_candidate list[],
                        size_t n,
                        bool rechecks,
                        double value_s[])
{
    size_t c = 0;
    for (size_t i = 0; i < given->n; i++) {
        for (size_t t = 0; t < given->nodes[i].n_running; t++) {
            const struct speculation_task *task = &given->nodes[i].running[t];
            bool wanted = rechecks
                              ? task->copy == SPECULATION_COPY_WAITS
                              : straggler[i] && task->copy == SPECULATION_NO_COPY && !task->is_copy;
            if (!wanted)
                continue;
            cr_assert_lt(c, n);
            cr_assert(list[c].place.node == i && list[c].place.task == t);
            value_s[c] = expect_candidate(given, straggler, highest, &list[c]);
            c++;
        }
    }
    cr_assert_eq(c, n);
}

static void take_cluster(const struct esplash_case *given, struct speculation_node nodes[])
{
    for (size_t i = 0; i < given->n; i++) {
        const struct esplash_case_node *node = &given->nodes[i];
        nodes[i] =
            (struct speculation_node){node->containers, node->free_containers, node->finished,
                                      node->n_finished, node->running,         node->n_running};
    }
}

void esplash_reference_compare(const struct esplash_case *given,
                               const struct esplash_terms *terms,
                               struct arena *arena)
{
    struct speculation_node nodes[ESPLASH_NODES_MAX];
    size_t level[ESPLASH_NODES_MAX];
    bool straggler[ESPLASH_NODES_MAX];
    double value_s[ESPLASH_NODES_MAX * ESPLASH_TASKS_MAX];
    double kept_s[ESPLASH_NODES_MAX * ESPLASH_TASKS_MAX];
    struct esplash_decision got;
    take_cluster(given, nodes);
    for (size_t i = 0; i < given->n; i++)
        level[i] = given->level[i];
    struct node_levels levels = node_levels_given(level, given->n);
    cr_assert_eq(esplash_decide(&(struct speculation_cluster){nodes, given->n, ESPLASH_TYPES_MAX},
                                &levels, terms, arena, &got, NULL),
                 PV_OK);
    for (size_t i = 0; i < given->n; i++) {
        double value = value_of_node(given, terms, i);
        straggler[i] = above(value, terms->threshold);
        expect_near(got.nodes[i].straggler_value, value, "straggler_value");
        cr_assert_eq(got.nodes[i].straggler, straggler[i]);
    }
    expect_table(given, levels.highest, &got);
    expect_list(given, straggler, levels.highest, got.candidates, got.n_candidates, false, value_s);
    expect_list(given, straggler, levels.highest, got.rechecks, got.n_rechecks, true, kept_s);
    for (size_t c = 0; c < got.n_rechecks; c++)
        cr_assert_eq(esplash_keeps(&got.rechecks[c]), above(kept_s[c], 0));
    expect_action(given, straggler, value_s, &got);
}
