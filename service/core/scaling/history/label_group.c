#include "core/scaling/history/label_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/plural.h"
#include "core/scaling/history/label_traits.h"

static enum pv_code label_group_describe(const struct label_groups *groups,
                                         const struct run_label_list *labels,
                                         struct arena *arena,
                                         struct label_group *group,
                                         struct pv_error *err)
{
    struct strview *keys = arena_array(arena, groups->n_keys, sizeof *keys);
    if (keys == NULL)
        return pv_no_memory(err);
    memcpy(keys, groups->keys, groups->n_keys * sizeof *keys);
    group->keys = keys;
    group->n_keys = groups->n_keys;
    group->labels = labels;
    group->groups = groups->n;
    return PV_OK;
}

static enum pv_code mark(const struct label_groups *groups,
                         size_t row,
                         struct run_observations *seen,
                         struct arena *arena,
                         struct label_group *group,
                         struct pv_error *err)
{
    label_groups_assign(groups, row, seen->rows, seen->n);
    for (size_t i = 0; i < seen->n; i++)
        group->runs += seen->rows[i].context <= 1;
    return label_traits_set(seen->rows, seen->labels, seen->n, groups->keys, groups->n_keys, arena,
                            err);
}

enum pv_code label_group_find(struct run_observations *seen,
                              const struct run_label labels[],
                              size_t n,
                              struct arena *arena,
                              struct label_group *group,
                              struct pv_error *err)
{
    struct label_groups groups;
    size_t row = label_groups_match(seen->labels, seen->n, labels, n);
    *group = (struct label_group){.asked = n > 0};
    if (row == seen->n && n > 0)
        return pv_fault(err, PV_PLACE_PARAMETER, "label", "not_found",
                        "none of the %zu run%s that can be used has these labels", seen->n,
                        PLURAL(seen->n));
    PV_TRY(label_groups_find(seen->rows, seen->labels, seen->n, arena, &groups, err));
    if (groups.n_keys == 0)
        return PV_OK;
    PV_TRY(label_group_describe(&groups, &seen->labels[row], arena, group, err));
    return mark(&groups, row, seen, arena, group, err);
}

static bool label_group_holds(const struct strview keys[], size_t n_keys, struct strview key)
{
    for (size_t k = 0; k < n_keys; k++)
        if (strview_equal(keys[k], key))
            return true;
    return false;
}

bool label_group_has_key(const struct label_group *group, struct strview key)
{
    return label_group_holds(group->keys, group->n_keys, key);
}

enum pv_code label_group_of_explaining(struct run_observations *seen,
                                       const struct run_label labels[],
                                       size_t n,
                                       struct arena *arena,
                                       struct label_group *group,
                                       struct pv_error *err)
{
    struct label_groups groups;
    *group = (struct label_group){.asked = false};
    size_t labelled = 0;
    for (size_t i = 0; i < seen->n; i++)
        labelled += seen->labels[i].n > 0;
    if (labelled == 0)
        return PV_OK;
    PV_TRY(label_groups_find(seen->rows, seen->labels, seen->n, arena, &groups, err));
    if (groups.n_keys == 0)
        return PV_OK;
    struct run_label *kept = arena_array(arena, n, sizeof *kept);
    struct run_label_list *explaining = arena_alloc(arena, sizeof *explaining);
    if (kept == NULL || explaining == NULL)
        return pv_no_memory(err);
    *explaining = (struct run_label_list){kept, 0};
    for (size_t i = 0; i < n; i++)
        if (label_group_holds(groups.keys, groups.n_keys, labels[i].key))
            kept[explaining->n++] = labels[i];
    size_t row = label_groups_match(seen->labels, seen->n, kept, explaining->n);
    group->asked = explaining->n > 0;
    group->ignored = row == seen->n;
    PV_TRY(label_group_describe(&groups, group->ignored ? explaining : &seen->labels[row], arena,
                                group, err));
    return group->ignored ? PV_OK : mark(&groups, row, seen, arena, group, err);
}

void label_group_ignore(struct label_group *group, struct run_observations *seen)
{
    group->ignored = true;
    for (size_t i = 0; i < seen->n; i++)
        seen->rows[i].context = 0;
}

enum pv_code label_group_runs(const struct run_observations *seen,
                              struct arena *arena,
                              struct run_observations *own,
                              struct pv_error *err)
{
    *own = *seen;
    own->rows = arena_array(arena, seen->n, sizeof *own->rows);
    own->labels = arena_array(arena, seen->n, sizeof *own->labels);
    own->evidence = arena_array(arena, seen->n, sizeof *own->evidence);
    if (own->rows == NULL || own->labels == NULL || own->evidence == NULL)
        return pv_no_memory(err);
    own->n = 0;
    for (size_t i = 0; i < seen->n; i++) {
        if (seen->rows[i].context > 1)
            continue;
        own->rows[own->n] = seen->rows[i];
        own->labels[own->n] = seen->labels[i];
        own->evidence[own->n++] = seen->evidence[i];
    }
    return PV_OK;
}

struct distance {
    double away;
    size_t row;
};

static int by_distance(const void *a, const void *b)
{
    const struct distance *x = a;
    const struct distance *y = b;
    int order = compare_double(x->away, y->away);
    return order != 0 ? order : compare_size(x->row, y->row);
}

enum pv_code label_group_nearest(const struct label_group *group,
                                 const struct run_observations *seen,
                                 double problem_size,
                                 size_t most,
                                 struct arena *arena,
                                 size_t **rows,
                                 size_t *n,
                                 struct pv_error *err)
{
    size_t found = 0;
    *n = 0;
    *rows = NULL;
    if (group->n_keys == 0 || group->ignored)
        return PV_OK;
    struct distance *distances = arena_array(arena, seen->n, sizeof *distances);
    *rows = arena_array(arena, seen->n, sizeof **rows);
    if (distances == NULL || *rows == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < seen->n; i++) {
        if (seen->rows[i].context != 1 || !seen->evidence[i].replayable)
            continue;
        bool open = isnan(problem_size);
        double away = open ? 0 : fabs(seen->rows[i].problem_size - problem_size);
        distances[found++] = (struct distance){away, i};
    }
    qsort(distances, found, sizeof *distances, by_distance);
    *n = found < most ? found : most;
    for (size_t i = 0; i < *n; i++)
        (*rows)[i] = distances[i].row;
    return PV_OK;
}

static bool copy_text(struct strview *text, struct arena *arena)
{
    text->at = arena_strndup(arena, text->at == NULL ? "" : text->at, text->n);
    return text->at != NULL;
}

enum pv_code label_group_copy(const struct label_group *group,
                              struct arena *arena,
                              struct label_group *copy,
                              struct pv_error *err)
{
    *copy = *group;
    if (group->n_keys == 0)
        return PV_OK;
    struct strview *keys = arena_array(arena, group->n_keys, sizeof *keys);
    struct run_label_list *labels = arena_alloc(arena, sizeof *labels);
    struct run_label *pairs = arena_array(arena, group->n_keys, sizeof *pairs);
    if (keys == NULL || labels == NULL || pairs == NULL)
        return pv_no_memory(err);
    *labels = (struct run_label_list){pairs, 0};
    for (size_t k = 0; k < group->n_keys; k++) {
        struct strview value = run_label_value(group->labels, group->keys[k]);
        keys[k] = group->keys[k];
        if (!copy_text(&keys[k], arena))
            return pv_no_memory(err);
        if (value.at == NULL)
            continue;
        if (!copy_text(&value, arena))
            return pv_no_memory(err);
        pairs[labels->n++] = (struct run_label){keys[k], value};
    }
    copy->keys = keys;
    copy->labels = labels;
    return PV_OK;
}
