/*
 * Compass search (T. G. Kolda, R. M. Lewis, V. Torczon, SIAM Review 45, 2003, algorithm 1.1) from
 * the best configuration of each strategy at once; after each round the worse half of the
 * strategies is left (successive halving: K. Jamieson, A. Talwalkar, AISTATS 2016). A round tries
 * both neighbours of each beam's configuration along each axis, moves to the best of them if it is
 * better, and else makes the steps smaller. O(simulations), and O(tried^2) comparisons.
 */
#include "core/control/search.h"

#include <math.h>
#include <stdlib.h>

const char *const control_axis_words[CONTROL_AXES + 1] = {"alpha", "gamma", "gain",
                                                          "integral_time_s", NULL};

/* Steps, from wide to narrow: what alpha and gamma are moved by, and what gain and integral time
 * are multiplied with. */
enum { LEVELS = 4, NEIGHBOURS = 2 * CONTROL_AXES + 1 };
static const double ALPHA_STEPS[LEVELS] = {0.2, 0.1, 0.05, 0.02};
static const double GAMMA_STEPS[LEVELS] = {0.5, 0.2, 0.1, 0.05};
static const double UP_FACTORS[LEVELS] = {4, 2, 1.5, 1.2};
static const double DOWN_FACTORS[LEVELS] = {0.25, 0.5, 0.75, 0.8};
static const double ALPHA_LEAST = 0.1;
static const double FACTOR_LEAST = 1e-3;
static const double FACTOR_MOST = 1e6;

/* The search within one strategy. */
struct beam {
    struct control_point point;
    struct control_score score;
    size_t level; /* LEVELS: it has ended */
};

struct search {
    const struct control_problem *problem;
    const struct control_search *terms;
    struct control_effort *effort;
    struct arena *arena;
    struct arena *scratch;
    double alpha; /* that the search begins at where jobs have their own */
    struct beam beams[CONTENTION_STRATEGIES];
    size_t n_beams;
    size_t alive; /* the first so many are still searched */
    struct control_point *tried;
    size_t n_tried;
    size_t most;
    /* Of the round at hand: */
    struct control_point points[CONTENTION_STRATEGIES * NEIGHBOURS];
    struct control_score scores[CONTENTION_STRATEGIES * NEIGHBOURS];
    size_t of[CONTENTION_STRATEGIES * NEIGHBOURS]; /* its beam */
    size_t n;
    bool exhausted;
};

/* --- neighbours --- */

/* To four digits behind the point, so that steps back and forth meet. */
static double step_to(double from, double step, double low, double high)
{
    return fmin(high, fmax(low, round((from + step) * 1e4) / 1e4));
}

static double factor_to(double from, double factor)
{
    return fmin(FACTOR_MOST, fmax(FACTOR_LEAST, from * factor));
}

static struct control_point
neighbour(const struct search *search, const struct beam *beam, enum control_axis axis, bool up)
{
    struct control_point point = beam->point;
    double alpha = isnan(point.alpha) ? search->alpha : point.alpha;
    double sign = up ? 1 : -1;
    double factor = up ? UP_FACTORS[beam->level] : DOWN_FACTORS[beam->level];
    switch (axis) {
    case CONTROL_ALPHA:
        point.alpha = step_to(alpha, sign * ALPHA_STEPS[beam->level], fmin(alpha, ALPHA_LEAST), 1);
        break;
    case CONTROL_GAMMA:
        point.gamma = step_to(point.gamma, sign * GAMMA_STEPS[beam->level], 0, 1);
        break;
    case CONTROL_GAIN:
        point.gain = factor_to(point.gain, factor);
        break;
    case CONTROL_INTEGRAL_TIME:
        point.integral_time_s = factor_to(point.integral_time_s, factor);
        break;
    }
    return point;
}

static bool is_same(const struct control_point *a, const struct control_point *b)
{
    return a->strategy == b->strategy && a->gamma == b->gamma &&
           (a->alpha == b->alpha || (isnan(a->alpha) && isnan(b->alpha))) && a->gain == b->gain &&
           a->integral_time_s == b->integral_time_s;
}

static bool was_tried(const struct search *search, const struct control_point *point)
{
    for (size_t i = 0; i < search->n_tried; i++)
        if (is_same(&search->tried[i], point))
            return true;
    return false;
}

/* To be simulated in this round, unless it was before or there are no simulations left for it. */
static void consider(struct search *search, size_t beam, const struct control_point *point)
{
    if (was_tried(search, point))
        return;
    if (search->n_tried == search->most) {
        search->exhausted = true;
        return;
    }
    search->tried[search->n_tried++] = *point;
    search->points[search->n] = *point;
    search->of[search->n++] = beam;
}

static void list_neighbours(struct search *search, size_t b)
{
    const struct beam *beam = &search->beams[b];
    unsigned over = search->terms->over;
    if (beam->level == LEVELS)
        return;
    if (isnan(beam->point.alpha) && (over & 1u << CONTROL_ALPHA) != 0) {
        struct control_point common = beam->point;
        common.alpha = search->alpha;
        consider(search, b, &common);
    }
    for (unsigned axis = 0; axis < CONTROL_AXES; axis++)
        for (int up = 0; up < 2 && (over & 1u << axis) != 0; up++) {
            const struct control_point point =
                neighbour(search, beam, (enum control_axis)axis, up == 1);
            consider(search, b, &point);
        }
}

/* --- rounds --- */

static enum pv_code try_all(struct search *search, struct pv_error *err)
{
    for (size_t i = 0; i < search->n; i++)
        if (!control_score_init(&search->scores[i], search->problem, search->arena))
            return pv_no_memory(err);
    return control_score_points(search->problem, search->points, search->n, 0, search->effort,
                                search->scratch, search->scores, NULL, err);
}

static void move_beams(struct search *search)
{
    bool moved[CONTENTION_STRATEGIES] = {false};
    for (size_t i = 0; i < search->n; i++) {
        struct beam *beam = &search->beams[search->of[i]];
        if (!control_score_is_better(&search->scores[i], &beam->score))
            continue;
        beam->point = search->points[i];
        beam->score = search->scores[i];
        moved[search->of[i]] = true;
    }
    for (size_t b = 0; b < search->alive; b++)
        search->beams[b].level += !moved[b] && search->beams[b].level < LEVELS;
}

/* Best first; equal ones stay in order. */
static void sort_beams(struct search *search, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct beam beam = search->beams[i];
        size_t at = i;
        for (; at > 0 && control_score_is_better(&beam.score, &search->beams[at - 1].score); at--)
            search->beams[at] = search->beams[at - 1];
        search->beams[at] = beam;
    }
}

static bool has_ended(const struct search *search)
{
    for (size_t b = 0; b < search->alive; b++)
        if (search->beams[b].level < LEVELS)
            return false;
    return true;
}

static enum pv_code run_rounds(struct search *search, struct pv_error *err)
{
    search->alive = search->n_beams;
    while (!has_ended(search) && !search->exhausted) {
        sort_beams(search, search->alive);
        search->n = 0;
        for (size_t b = 0; b < search->alive; b++)
            list_neighbours(search, b);
        PV_TRY(try_all(search, err));
        move_beams(search);
        sort_beams(search, search->alive);
        search->alive = (search->alive + 1) / 2;
    }
    sort_beams(search, search->n_beams);
    return PV_OK;
}

/* --- the beginning --- */

/* The best of each strategy, in the order in which strategies come first. */
static void make_beams(struct search *search,
                       const struct control_point points[],
                       const struct control_score scores[],
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t b = 0;
        while (b < search->n_beams && search->beams[b].point.strategy != points[i].strategy)
            b++;
        if (b == search->n_beams)
            search->beams[search->n_beams++] = (struct beam){points[i], scores[i], 0};
        else if (control_score_is_better(&scores[i], &search->beams[b].score))
            search->beams[b] = (struct beam){points[i], scores[i], 0};
    }
}

/* The mean; where all have the same, that, and configurations say so. */
static double begin_alpha(const struct control_problem *problem, bool *common)
{
    double sum = 0;
    *common = true;
    for (size_t j = 0; j < problem->n; j++) {
        sum += problem->terms[j].alpha;
        *common = *common && problem->terms[j].alpha == problem->terms[0].alpha;
    }
    return *common ? problem->terms[0].alpha : sum / (double)problem->n;
}

static bool begin(struct search *search,
                  const struct control_point points[],
                  const struct control_score scores[],
                  size_t n)
{
    bool common;
    size_t tries = search->terms->simulations / search->problem->repetitions;
    search->most = n + tries;
    search->tried = arena_array(search->arena, search->most, sizeof *search->tried);
    if (search->tried == NULL)
        return false;
    search->alpha = begin_alpha(search->problem, &common);
    make_beams(search, points, scores, n);
    for (size_t b = 0; common && b < search->n_beams; b++)
        search->beams[b].point.alpha = search->alpha;
    for (size_t i = 0; i < n; i++) {
        search->tried[i] = points[i];
        if (common)
            search->tried[i].alpha = search->alpha;
    }
    search->n_tried = n;
    return true;
}

enum pv_code control_search_run(const struct control_problem *problem,
                                const struct control_search *terms,
                                const struct control_point points[],
                                const struct control_score scores[],
                                size_t n,
                                struct control_effort *effort,
                                struct arena *arena,
                                struct arena *scratch,
                                struct control_found *found,
                                struct pv_error *err)
{
    struct search *search = arena_calloc(arena, 1, sizeof *search);
    if (search == NULL)
        return pv_no_memory(err);
    *search = (struct search){
        .problem = problem, .terms = terms, .effort = effort, .arena = arena, .scratch = scratch};
    if (!begin(search, points, scores, n))
        return pv_no_memory(err);
    PV_TRY(run_rounds(search, err));
    *found = (struct control_found){.point = search->beams[0].point,
                                    .score = search->beams[0].score,
                                    .tried = search->n_tried - n,
                                    .simulations = (search->n_tried - n) * problem->repetitions,
                                    .exhausted = search->exhausted};
    return PV_OK;
}
