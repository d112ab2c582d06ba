#include "pigeon_trace.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE_BYTES = 1 << 16 };

static bool take_line(struct pigeon_trace *trace, char *line, double cutoff_s, struct arena *arena)
{
    char *at = line;
    double arrival_s = strtod(at, &at);
    long tasks = strtol(at, &at, 10);
    (void)strtod(at, &at);
    if (tasks < 1)
        return true;
    struct tasks_job *job = vector_add(arena, &trace->jobs);
    double *durations_s = arena_array(arena, (size_t)tasks, sizeof *durations_s);
    if (job == NULL || durations_s == NULL)
        return false;
    for (long i = 0; i < tasks; i++)
        durations_s[i] = strtod(at, &at);
    *job = (struct tasks_job){.arrival_s = arrival_s,
                              .durations_s = durations_s,
                              .tasks = (uint32_t)tasks,
                              .is_long = tasks_are_long(durations_s, (uint32_t)tasks, cutoff_s)};
    return true;
}

bool pigeon_trace_read(struct pigeon_trace *trace,
                       const char *shared,
                       const char *name,
                       double short_cutoff_s,
                       struct arena *arena)
{
    char path[1024];
    static char line[LINE_BYTES];
    bool done = true;
    (void)snprintf(path, sizeof path, "%s/data/pigeon-traces/%s",
                   shared != NULL ? shared : "../shared", name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    while (done && fgets(line, sizeof line, file) != NULL)
        done = take_line(trace, line, short_cutoff_s, arena);
    (void)fclose(file);
    return done;
}
