#include "swim_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_BYTES = 256 };

/* Fields of a line behind the name. */
enum { SUBMITTED, GAP, INPUT, SHUFFLED, OUTPUT, FIELDS };

bool swim_add_tasks(struct slots_job *job,
                    enum slots_kind kind,
                    double count,
                    double duration_s,
                    double last_s,
                    struct arena *arena)
{
    struct slots_tasks *tasks = arena_array(arena, 2, sizeof *tasks);
    size_t n = 0;
    if (tasks == NULL)
        return false;
    if (count > 1)
        tasks[n++] = (struct slots_tasks){duration_s, (size_t)count - 1};
    tasks[n++] = (struct slots_tasks){last_s, 1};
    job->task_lists[kind] = (struct slots_task_list){tasks, n};
    return true;
}

static bool take_maps(struct slots_job *job,
                      double input_bytes,
                      double maps,
                      const struct swim_rates *rates,
                      struct arena *arena)
{
    double last_bytes = input_bytes - (maps - 1) * rates->block_bytes;
    double map_s = rates->task_s + rates->block_bytes / rates->map_bytes_per_s;
    double last_s = rates->task_s + last_bytes / rates->map_bytes_per_s;
    return swim_add_tasks(job, SLOTS_MAP, maps, map_s, last_s, arena);
}

static bool
take_line(struct swim_trace *trace, char *line, const struct swim_rates *rates, struct arena *arena)
{
    double fields[FIELDS];
    char *at = line;
    while (*at != '\t' && *at != '\0')
        at++;
    for (size_t i = 0; i < FIELDS; i++)
        fields[i] = strtod(at, &at);
    double *input_bytes = vector_add(arena, &trace->input_bytes);
    struct slots_job *job = vector_add(arena, &trace->jobs);
    if (input_bytes == NULL || job == NULL)
        return false;
    double maps = fmax(1, ceil(fields[INPUT] / rates->block_bytes));
    double reduces = ceil(fields[SHUFFLED] / rates->reduce_bytes);
    *input_bytes = fields[INPUT];
    job->arrival_s = fields[SUBMITTED];
    job->predicted_size_s = (double)NAN;
    trace->tasks += maps + reduces;
    if (!take_maps(job, fields[INPUT], maps, rates, arena))
        return false;
    double reduce_s = rates->task_s + (fields[SHUFFLED] / rates->shuffle_bytes_per_s +
                                       fields[OUTPUT] / rates->output_bytes_per_s) /
                                          reduces;
    return reduces < 1 || swim_add_tasks(job, SLOTS_REDUCE, reduces, reduce_s, reduce_s, arena);
}

bool swim_trace_read(struct swim_trace *trace,
                     const char *path,
                     const struct swim_rates *rates,
                     struct arena *arena)
{
    FILE *file = fopen(path, "r");
    char line[LINE_BYTES];
    bool done = true;
    if (file == NULL)
        return false;
    while (done && fgets(line, sizeof line, file) != NULL)
        done = take_line(trace, line, rates, arena);
    (void)fclose(file);
    return done;
}
