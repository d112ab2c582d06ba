#include "core/advice/first_stage_job.h"

#include <math.h>

#include "base/plural.h"

static enum pv_code name_operations(const struct first_stage stages[],
                                    size_t n,
                                    struct strview application,
                                    struct arena *arena,
                                    size_t operation_of[],
                                    struct first_stage_job *made,
                                    struct pv_error *err)
{
    struct strview *names = arena_array(arena, n + 1, sizeof *names);
    size_t count = 1;
    if (names == NULL)
        return pv_no_memory(err);
    names[0] = application;
    for (size_t i = 0; i < n; i++) {
        bool named = stages[i].name.at != NULL && stages[i].name.n > 0;
        size_t k = 0;
        while (named && k < count && !strview_equal(names[k], stages[i].name))
            k++;
        if (k == count)
            names[count++] = stages[i].name;
        operation_of[i] = k;
    }
    made->operations = names;
    made->n_operations = count;
    return PV_OK;
}

/* Where the input may lie: as specified, else everywhere. */
static const size_t *
list_inputs(const struct advice_question *question, struct arena *arena, size_t *n)
{
    *n = question->n_inputs;
    if (question->n_inputs > 0)
        return question->inputs;
    *n = question->n_clusters;
    size_t *all = arena_array(arena, *n, sizeof *all);
    for (size_t i = 0; all != NULL && i < *n; i++)
        all[i] = i;
    return all;
}

enum pv_code first_stage_job_make(const struct advice_question *question,
                                  const struct first_stage stages[],
                                  size_t n,
                                  size_t tasks_max,
                                  struct arena *arena,
                                  struct first_stage_job *made,
                                  struct pv_error *err)
{
    size_t n_inputs = 0, n_tasks = 0, at = 0;
    double bytes = 0;
    for (size_t s = 0; s < n; s++) {
        if (stages[s].tasks > tasks_max - n_tasks)
            return pv_fail(err, PV_E_LIMIT,
                           "its first stages have more than %zu task%s (plan_tasks_max)", tasks_max,
                           PLURAL(tasks_max));
        n_tasks += stages[s].tasks;
        bytes += stages[s].input_bytes;
    }
    const size_t *inputs = list_inputs(question, arena, &n_inputs);
    size_t *operation_of = arena_array(arena, n, sizeof *operation_of);
    made->tasks = arena_calloc(arena, n_tasks, sizeof *made->tasks);
    made->ids = arena_calloc(arena, n_tasks, sizeof *made->ids);
    if (inputs == NULL || operation_of == NULL || made->tasks == NULL || made->ids == NULL)
        return pv_no_memory(err);
    PV_TRY(name_operations(stages, n, advice_job_name(question), arena, operation_of, made, err));
    for (size_t s = 0; s < n; s++)
        for (size_t t = 0; t < stages[s].tasks; t++, at++) {
            const char *id = arena_printf(arena, "%lld.%zu", (long long)stages[s].id, t);
            if (id == NULL)
                return pv_no_memory(err);
            made->ids[at] = strview_of(id);
            made->tasks[at] =
                (struct geo_task){.operation = operation_of[s],
                                  .size_bytes = stages[s].input_bytes / (double)stages[s].tasks,
                                  .inputs = &inputs[at % n_inputs],
                                  .n_inputs = 1,
                                  .waited_s = (double)NAN};
        }
    made->job = (struct geo_job){.unprocessed_bytes = bytes,
                                 .tasks = made->tasks,
                                 .n_tasks = n_tasks,
                                 .median_duration_s = (double)NAN};
    return PV_OK;
}

/* --- operations --- */

/* How near to the clusters it was observed; PERFORMANCE_SOURCES: nowhere. */
static size_t find_nearest_source(const struct performance_book *book,
                                  const size_t place[],
                                  size_t n_clusters,
                                  size_t operation)
{
    size_t nearest = PERFORMANCE_SOURCES;
    for (size_t m = 0; m < n_clusters; m++) {
        enum performance_source source =
            performance_book_processing(book, place[m], operation)->source;
        if (source != PERFORMANCE_NONE && (size_t)source < nearest)
            nearest = (size_t)source;
    }
    return nearest;
}

/* Names that are too long for the reply are left out. */
static enum pv_code
refuse_operation(struct strview stage, struct strview application, struct pv_error *err)
{
    const char *said = "no cluster reported processing speeds of an operation that is named like "
                       "the stage or like the application";
    if (stage.n + application.n > 120)
        return pv_fail(err, PV_E_TOO_FEW, "%s", said);
    return pv_fail(err, PV_E_TOO_FEW, "%s (%.*s%s%.*s)", said, (int)stage.n, stage.at,
                   stage.n > 0 ? "; " : "", (int)application.n, application.at);
}

enum pv_code first_stage_job_choose_operations(struct first_stage_job *job,
                                               const struct performance_book *book,
                                               const size_t place[],
                                               size_t n_clusters,
                                               struct arena *arena,
                                               struct pv_error *err)
{
    size_t *nearest = arena_array(arena, job->n_operations, sizeof *nearest);
    if (nearest == NULL)
        return pv_no_memory(err);
    for (size_t op = 0; op < job->n_operations; op++)
        nearest[op] = find_nearest_source(book, place, n_clusters, op);
    for (size_t t = 0; t < job->job.n_tasks; t++) {
        size_t *operation = &job->tasks[t].operation;
        if (nearest[0] < nearest[*operation])
            *operation = 0;
        if (nearest[*operation] == PERFORMANCE_SOURCES)
            return refuse_operation(job->operations[*operation], job->operations[0], err);
    }
    return PV_OK;
}
