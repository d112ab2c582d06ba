#include "core/scaling/history/explaining_labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"

/* A difference of BIC: very strong evidence (R. E. Kass, A. E. Raftery, "Bayes factors", JASA 90,
 * 1995). */
static const double strong_evidence = 10;
/* Of ln T: no law is believed to be closer than half a percent, so that data without noise do not
 * make every label significant. */
static const double least_residual = 0.005;
/* On the mean: a law of three coefficients needs as many. */
enum { RUNS_PER_GROUP = 3 };

struct strview run_label_value(const struct run_label_list *labels, struct strview key)
{
    for (size_t i = 0; i < labels->n; i++)
        if (strview_equal(labels->labels[i].key, key))
            return labels->labels[i].value;
    return (struct strview){NULL, 0};
}

/* --- keys --- */

static enum pv_code list_keys(const struct run_label_list labels[],
                              size_t n,
                              struct arena *arena,
                              struct strview **keys,
                              size_t *n_keys,
                              struct pv_error *err)
{
    size_t all = 0;
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        all += labels[i].n;
    struct strview *found = arena_array(arena, all, sizeof *found);
    if (found == NULL)
        return pv_no_memory(err);
    all = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < labels[i].n; j++)
            found[all++] = labels[i].labels[j].key;
    if (all > 0)
        qsort(found, all, sizeof *found, order_by_strview);
    for (size_t i = 0; i < all; i++)
        if (distinct == 0 || !strview_equal(found[i], found[distinct - 1]))
            found[distinct++] = found[i];
    *keys = found;
    *n_keys = distinct;
    return PV_OK;
}

/* --- groups --- */

struct member {
    size_t group; /* so far */
    struct strview value;
    size_t row;
};

static int by_group(const void *a, const void *b)
{
    const struct member *x = a;
    const struct member *y = b;
    int order = compare_size(x->group, y->group);
    if (order == 0) /* a run without the label is one of a group of its own */
        order = (y->value.at == NULL) - (x->value.at == NULL);
    if (order == 0 && x->value.at != NULL)
        order = compare_strview(x->value, y->value);
    return order != 0 ? order : compare_size(x->row, y->row);
}

struct search {
    const struct run_label_list *labels;
    size_t n;
    const double *residuals;
    const double *weights;
    struct member *members; /* room */
};

/* Split the groups by the values of a key; returns how many there are then. */
static size_t
split(const struct search *search, const size_t groups[], struct strview key, size_t finer[])
{
    struct member *members = search->members;
    size_t n = 0;
    for (size_t i = 0; i < search->n; i++)
        members[i] = (struct member){groups[i], run_label_value(&search->labels[i], key), i};
    qsort(members, search->n, sizeof *members, by_group);
    for (size_t i = 0; i < search->n; i++) {
        const struct member *one = &members[i];
        const struct member *before = i > 0 ? &members[i - 1] : NULL;
        bool same = before != NULL && before->group == one->group &&
                    (before->value.at == NULL) == (one->value.at == NULL) &&
                    strview_equal(before->value, one->value);
        n += !same;
        finer[one->row] = n - 1;
    }
    return n;
}

/* Schwarz's criterion of the residuals about the means of their groups. */
static double criterion(const struct search *search,
                        const size_t groups[],
                        size_t n_groups,
                        double sums[],
                        double weights[])
{
    double rest = 0;
    double n = (double)search->n;
    for (size_t g = 0; g < n_groups; g++)
        sums[g] = weights[g] = 0;
    for (size_t i = 0; i < search->n; i++) {
        sums[groups[i]] += search->weights[i] * search->residuals[i];
        weights[groups[i]] += search->weights[i];
    }
    for (size_t i = 0; i < search->n; i++) {
        double off = search->residuals[i] - sums[groups[i]] / weights[groups[i]];
        rest += search->weights[i] * off * off;
    }
    return n * log(fmax(rest / n, least_residual * least_residual)) + (double)n_groups * log(n);
}

static enum pv_code add_keys(const struct search *search,
                             struct arena *arena,
                             struct label_groups *groups,
                             struct pv_error *err)
{
    struct strview *keys = NULL;
    size_t n_keys = 0;
    size_t *trial = arena_array(arena, search->n, sizeof *trial);
    size_t *best = arena_array(arena, search->n, sizeof *best);
    double *sums = arena_array(arena, search->n, sizeof *sums);
    double *weights = arena_array(arena, search->n, sizeof *weights);
    if (trial == NULL || best == NULL || sums == NULL || weights == NULL)
        return pv_no_memory(err);
    PV_TRY(list_keys(search->labels, search->n, arena, &keys, &n_keys, err));
    double now = criterion(search, groups->groups, groups->n, sums, weights);
    while (groups->n_keys < LABEL_GROUPS_KEYS_MAX) {
        size_t chosen = n_keys;
        size_t n_best = 0;
        double least = now - strong_evidence;
        for (size_t k = 0; k < n_keys; k++) {
            size_t n = split(search, groups->groups, keys[k], trial);
            if (n == groups->n || n > MODEL_CONTEXTS_MAX || n * RUNS_PER_GROUP > search->n)
                continue;
            double here = criterion(search, trial, n, sums, weights);
            if (here >= least)
                continue;
            least = here;
            chosen = k;
            n_best = n;
            memcpy(best, trial, search->n * sizeof *best);
        }
        if (chosen == n_keys)
            break;
        now = least;
        groups->keys[groups->n_keys++] = keys[chosen];
        groups->n = n_best;
        memcpy(groups->groups, best, search->n * sizeof *best);
    }
    return PV_OK;
}

/* --- what size and executors leave of ln T --- */

static enum pv_code find_residuals(const struct observation rows[],
                                   size_t n,
                                   struct arena *arena,
                                   double residuals[],
                                   double weights[],
                                   struct pv_error *err)
{
    struct model_fit fit;
    struct pv_error why = {0};
    struct observation *plain = arena_array(arena, n, sizeof *plain);
    if (plain == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        plain[i] = rows[i];
        plain[i].context = 0;
        weights[i] = rows[i].weight > 0 ? rows[i].weight : 1;
        residuals[i] = log(rows[i].duration_s);
    }
    enum pv_code code =
        model_fit(&load_per_executor_kind, plain, n, MODEL_RELATIVE, arena, &fit, &why);
    if (code == PV_E_MEMORY)
        return pv_no_memory(err);
    /* Runs of one size on one executor count: the times themselves are grouped. */
    for (size_t i = 0; code == PV_OK && i < fit.n; i++)
        if (fit.residuals[i].predicted > 0)
            residuals[fit.residuals[i].observation] -= log(fit.residuals[i].predicted);
    return PV_OK;
}

enum pv_code label_groups_find(const struct observation rows[],
                               const struct run_label_list labels[],
                               size_t n,
                               struct arena *arena,
                               struct label_groups *groups,
                               struct pv_error *err)
{
    struct label_groups made = {.groups = arena_calloc(arena, n, sizeof *made.groups), .n = n > 0};
    double *residuals = arena_array(arena, n, sizeof *residuals);
    double *weights = arena_array(arena, n, sizeof *weights);
    struct member *members = arena_array(arena, n, sizeof *members);
    if (made.groups == NULL || residuals == NULL || weights == NULL || members == NULL)
        return pv_no_memory(err);
    const struct search search = {labels, n, residuals, weights, members};
    if (n >= LABEL_GROUPS_LEAST_RUNS)
        PV_TRY(find_residuals(rows, n, arena, residuals, weights, err));
    if (n >= LABEL_GROUPS_LEAST_RUNS)
        PV_TRY(add_keys(&search, arena, &made, err));
    *groups = made;
    return PV_OK;
}

size_t label_groups_match(const struct run_label_list labels[],
                          size_t n,
                          const struct run_label asked[],
                          size_t n_asked)
{
    for (size_t i = 0; i < n; i++) {
        bool all = true;
        for (size_t a = 0; a < n_asked; a++) {
            struct strview value = run_label_value(&labels[i], asked[a].key);
            all = all && value.at != NULL && strview_equal(value, asked[a].value);
        }
        if (all)
            return i;
    }
    return n;
}

void label_groups_assign(const struct label_groups *groups,
                         size_t row,
                         struct observation rows[],
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool own = groups->groups[i] == groups->groups[row];
        rows[i].context = own ? 1 : (unsigned)groups->groups[i] + 2;
    }
}
