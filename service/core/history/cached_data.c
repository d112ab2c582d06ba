#include "core/history/cached_data.h"

#include <math.h>

#include "core/history/task_sketch.h"

/* A peak so close to what an executor can hold means that it was full. */
static const double full = 0.95;
/* Tasks that miss take at least so many times as long as those that find their block. */
static const double least_ratio = 1.5;

double cached_data_hit(const struct cached_data *data, double ratio, int64_t executors)
{
    double share = (double)executors * data->held_bytes / (data->wanted_bytes * ratio);
    return isnan(share) ? 1.0 : fmin(1.0, share);
}

double cached_data_executors(double hit, int64_t executors)
{
    return ceil((double)executors / hit - 1e-9);
}

/* The division of ascending values with the least sum of squared deviations from two means (N. Otsu,
 * "A threshold selection method from gray-level histograms", IEEE Trans. SMC 9(1), 1979). */
size_t cached_data_split(const double ascending_s[], size_t n)
{
    double sum = 0.0, low = 0.0, most = 0.0;
    size_t split = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(ascending_s[i]);
    for (size_t i = 1; i < n; i++) {
        low += log(ascending_s[i - 1]);
        double apart = low / (double)i - (sum - low) / (double)(n - i);
        double between = apart * apart * (double)i * (double)(n - i);
        if (between > most) {
            most = between;
            split = i;
        }
    }
    return split > 0 && ascending_s[split] > least_ratio * ascending_s[split - 1] ? split : 0;
}

static double mean_s(const double values_s[], size_t n)
{
    return n > 0 ? task_time_sum(values_s, n) / (double)n : 0.0;
}

/* The stage before stages[s] that computed what it reads from the cache; s: there is none. */
static size_t find_source(const struct cached_tasks stages[], size_t s)
{
    int64_t source_id = stages[s].stage->cache_source_id;
    for (size_t i = 0; i < s && source_id >= 0; i++)
        if (stages[i].stage->id == source_id)
            return i;
    return s;
}

static struct cached_stage
see_stage(const double sorted_s[], size_t n, double source_s, bool may_miss)
{
    size_t hits = may_miss ? cached_data_split(sorted_s, n) : 0;
    if (hits == 0)
        return (struct cached_stage){.hits = n, .extra_s = source_s};
    double extra_s = mean_s(&sorted_s[hits], n - hits) - mean_s(sorted_s, hits);
    return (struct cached_stage){.hits = hits, .extra_s = extra_s, .measured = true};
}

enum pv_code cached_data_take(const struct run *run,
                              const struct cached_tasks tasks[],
                              size_t n,
                              struct arena *arena,
                              struct cached_data *made,
                              struct pv_error *err)
{
    struct cached_stage *stages = arena_calloc(arena, n, sizeof *stages);
    double hits = 0.0, readers = 0.0;
    *made = (struct cached_data){(double)NAN, (double)NAN, false, NULL};
    if (stages == NULL)
        return pv_no_memory(err);
    int64_t peak = run->metrics.peak_storage_memory_bytes;
    if (run->storage_memory_bytes > 0)
        made->held_bytes = (double)run->storage_memory_bytes;
    bool had_room = peak > 0 && (double)peak < full * made->held_bytes;
    made->is_full = peak > 0 && (double)peak >= full * made->held_bytes;
    for (size_t s = 0; s < n; s++) {
        const struct cached_tasks *of = &tasks[s];
        size_t source = find_source(tasks, s);
        stages[s].hits = of->n;
        if (source == s || of->n == 0)
            continue;
        stages[s] = see_stage(of->ascending_s, of->n,
                              mean_s(tasks[source].ascending_s, tasks[source].n), !had_room);
        made->stages = stages;
        hits += (double)stages[s].hits;
        readers += (double)of->n;
    }
    if (had_room)
        made->wanted_bytes = (double)peak * (double)run->executors;
    else if (hits < readers)
        made->wanted_bytes = made->held_bytes * (double)run->executors * readers / hits;
    return PV_OK;
}

void cached_data_learn(struct cached_data *mine,
                       const struct cached_data *other,
                       size_t n,
                       double ratio)
{
    if (mine->stages == NULL || other->stages == NULL)
        return;
    if (isnan(mine->wanted_bytes))
        mine->wanted_bytes = other->wanted_bytes * ratio;
    if (isnan(mine->held_bytes))
        mine->held_bytes = other->held_bytes;
    for (size_t s = 0; s < n; s++)
        if (!mine->stages[s].measured && other->stages[s].measured) {
            mine->stages[s].extra_s = other->stages[s].extra_s;
            mine->stages[s].measured = true;
        }
}
