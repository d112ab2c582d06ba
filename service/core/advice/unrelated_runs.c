#include "core/advice/unrelated_runs.h"

#include <stdio.h>

#include "base/quantity_text.h"
#include "core/history/graph.h"

/* Where no run has stages, the error alone has to show it. */
static const double without_graphs = 2;

/* The graph of each run that has stages, from 0. */
struct sorted_runs {
    const struct run **runs;
    size_t *graphs;
    size_t n;
    size_t n_graphs;
};

static enum pv_code find_graph(const struct sorted_runs *sorted,
                               const struct run *run,
                               struct arena *scratch,
                               size_t *graph,
                               struct pv_error *err)
{
    size_t seen = 0;
    for (size_t i = 0; i < sorted->n && seen < sorted->n_graphs; i++) {
        bool equal;
        if (sorted->graphs[i] < seen) /* that graph was compared already */
            continue;
        seen = sorted->graphs[i] + 1;
        PV_TRY(run_graph_compare(run, sorted->runs[i], scratch, &equal, err));
        if (equal) {
            *graph = sorted->graphs[i];
            return PV_OK;
        }
    }
    *graph = sorted->n_graphs;
    return PV_OK;
}

static enum pv_code sort_by_graph(const struct run runs[],
                                  size_t n,
                                  struct arena *scratch,
                                  struct sorted_runs *sorted,
                                  struct pv_error *err)
{
    *sorted = (struct sorted_runs){.runs = arena_array(scratch, n, sizeof *sorted->runs),
                                   .graphs = arena_array(scratch, n, sizeof *sorted->graphs)};
    if (sorted->runs == NULL || sorted->graphs == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        size_t graph;
        if (runs[i].n_stages == 0)
            continue;
        PV_TRY(find_graph(sorted, &runs[i], scratch, &graph, err));
        sorted->n_graphs += graph == sorted->n_graphs;
        sorted->graphs[sorted->n] = graph;
        sorted->runs[sorted->n++] = &runs[i];
    }
    return PV_OK;
}

/* --- what tells them apart --- */

struct pairs {
    const struct run_label *at;
    size_t n;
};

static struct pairs pairs_of(const struct run *run, enum unrelated_split split)
{
    if (split == SPLIT_BY_LABEL)
        return (struct pairs){run->labels, run->n_labels};
    return (struct pairs){run->spark_properties, run->n_spark_properties};
}

/* at == NULL: the run has none. */
static struct strview
value_of(const struct run *run, enum unrelated_split split, struct strview key)
{
    const struct pairs pairs = pairs_of(run, split);
    for (size_t i = 0; i < pairs.n; i++)
        if (strview_equal(pairs.at[i].key, key))
            return pairs.at[i].value;
    return (struct strview){NULL, 0};
}

/* How many values of the key there are, if the runs of each have one graph; else 0, as where some
 * run has none. Every run of its own value tells nothing. */
static size_t
count_values(const struct sorted_runs *sorted, enum unrelated_split split, struct strview key)
{
    size_t values = 0;
    for (size_t i = 0; i < sorted->n; i++) {
        struct strview value = value_of(sorted->runs[i], split, key);
        bool first = true;
        if (value.at == NULL)
            return 0;
        for (size_t j = 0; j < i && first; j++)
            if (strview_equal(value_of(sorted->runs[j], split, key), value)) {
                first = false;
                if (sorted->graphs[j] != sorted->graphs[i])
                    return 0;
            }
        values += first;
    }
    return values > 1 && values < sorted->n ? values : 0;
}

static enum pv_code find_split(const struct sorted_runs *sorted,
                               enum unrelated_split split,
                               struct arena *arena,
                               struct unrelated_runs *found,
                               struct pv_error *err)
{
    const struct pairs pairs = pairs_of(sorted->runs[0], split);
    for (size_t k = 0; k < pairs.n; k++) {
        struct strview key = pairs.at[k].key;
        size_t values = count_values(sorted, split, key);
        if (values == 0 || (found->split != SPLIT_UNKNOWN && values >= found->split_groups))
            continue;
        found->split = split;
        found->split_groups = values;
        found->key = arena_printf(arena, "%.*s", (int)key.n, key.at);
        if (found->key == NULL)
            return pv_no_memory(err);
    }
    return PV_OK;
}

enum pv_code unrelated_runs_find(const struct run runs[],
                                 size_t n,
                                 double error_percent,
                                 struct arena *arena,
                                 struct arena *scratch,
                                 struct unrelated_runs *found,
                                 struct pv_error *err)
{
    struct sorted_runs sorted;
    struct arena_mark mark = arena_mark(scratch);
    *found = (struct unrelated_runs){.error_percent = error_percent};
    if (!(error_percent >= UNRELATED_ERROR))
        return PV_OK;
    PV_TRY(sort_by_graph(runs, n, scratch, &sorted, err));
    found->looked_at = sorted.n;
    found->graphs = sorted.n_graphs;
    found->found =
        sorted.n_graphs > 1 || (sorted.n == 0 && error_percent >= without_graphs * UNRELATED_ERROR);
    enum pv_code code = PV_OK;
    if (sorted.n_graphs > 1)
        code = find_split(&sorted, SPLIT_BY_LABEL, arena, found, err);
    if (code == PV_OK && sorted.n_graphs > 1)
        code = find_split(&sorted, SPLIT_BY_PROPERTY, arena, found, err);
    arena_rewind(scratch, mark);
    return code;
}

/* --- the warning --- */

static void propose(const struct unrelated_runs *found, char *text, size_t room)
{
    if (found->split == SPLIT_UNKNOWN)
        (void)snprintf(text, room,
                       "Give each job an application name of its own, by spark.app.name or a name "
                       "rule");
    else
        (void)snprintf(text, room,
                       "Runs with the same %s %.200s have the same stages: record each of its "
                       "values as an application of its own",
                       found->split == SPLIT_BY_LABEL ? "label" : "Spark property", found->key);
}

enum pv_code unrelated_runs_explain(const struct unrelated_runs *found,
                                    struct advice *advice,
                                    struct pv_error *err)
{
    char proposal[400];
    char graphs[120] = "";
    if (!found->found)
        return PV_OK;
    propose(found, proposal, sizeof proposal);
    if (found->graphs > 1)
        (void)snprintf(graphs, sizeof graphs, ", and the %zu runs looked at have %zu stage graphs",
                       found->looked_at, found->graphs);
    struct finding *note =
        finding_add(&advice->warnings, "runs_unrelated",
                    "Predictions are off by %s on runs left out%s: "
                    "the runs seem to be of different jobs. %s.",
                    quantity_percent(found->error_percent).text, graphs, proposal);
    finding_number(note, "left_out_error_percent", found->error_percent);
    finding_number(note, "runs", (double)found->looked_at);
    finding_number(note, "stage_graphs", (double)found->graphs);
    finding_text(note, found->split == SPLIT_BY_PROPERTY ? "spark_property" : "label", found->key);
    return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}
