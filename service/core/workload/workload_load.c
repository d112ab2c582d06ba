#include "core/workload/workload_load.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "core/workload/workload_chunk.h"

enum { RUNS_AT_ONCE = 256 };

/* A job's place among all that are loaded. */
struct job_key {
    double arrival_s;
    size_t index;
};

struct workload_load {
    const struct workload_summary *summary;
    struct workload_load_terms terms;
    uint64_t chunks; /* begun */
    size_t n_jobs;
    struct slots_job *slots;
    struct tasks_job *tasks;
    struct slots_tasks *runs[WORKLOAD_LISTS]; /* for slots, of all jobs */
    uint64_t n_runs[WORKLOAD_LISTS];
    double *durations_s; /* for tasks, of all jobs */
    uint64_t n_durations;
    enum workload_class class; /* of the job read last */
    const char **names;
    char *name_bytes;
    uint64_t n_name_bytes;
    struct job_key *keys; /* where jobs are to be sorted */
    void *sorted_jobs;
    const char **sorted_names;
};

/* --- memory --- */

static uint64_t tasks_of(const struct workload_summary *summary)
{
    return summary->tasks[WORKLOAD_TASKS] + summary->tasks[WORKLOAD_REDUCES];
}

/* Arrays one behind the other in one piece of memory; `at` is NULL while it is only measured. */
struct layout {
    char *at;
    size_t bytes; /* SIZE_MAX: more than there can be */
};

static void *place(struct layout *layout, uint64_t count, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    size_t more;
    void *at = layout->at == NULL ? NULL : layout->at + layout->bytes;
    if (__builtin_mul_overflow(count, size, &more) || more > SIZE_MAX - align ||
        __builtin_add_overflow(layout->bytes, (more + align - 1) / align * align, &layout->bytes))
        layout->bytes = SIZE_MAX;
    return at;
}

static void place_arrays(struct workload_load *load, struct layout *layout)
{
    const struct workload_summary *summary = load->summary;
    bool slots = load->terms.target == WORKLOAD_FOR_SLOTS;
    bool sorting = !summary->sorted;
    size_t job = slots ? sizeof(struct slots_job) : sizeof(struct tasks_job);
    void *all = place(layout, summary->jobs, job);
    load->slots = slots ? all : NULL;
    load->tasks = slots ? NULL : all;
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++)
        load->runs[l] = place(layout, slots ? summary->runs[l] : 0, sizeof *load->runs[l]);
    load->durations_s = place(layout, slots ? 0 : tasks_of(summary), sizeof(double));
    if (load->terms.names) {
        load->names = place(layout, summary->jobs, sizeof *load->names);
        load->name_bytes = place(layout, summary->name_bytes, 1);
        load->sorted_names = place(layout, sorting ? summary->jobs : 0, sizeof *load->names);
    }
    if (sorting) {
        load->keys = place(layout, summary->jobs, sizeof *load->keys);
        load->sorted_jobs = place(layout, summary->jobs, job);
    }
}

static size_t bytes_of(const struct workload_load *load)
{
    struct workload_load measured = *load;
    struct layout layout = {0};
    (void)place(&layout, 1, sizeof measured);
    place_arrays(&measured, &layout);
    return layout.bytes;
}

size_t workload_load_bytes(const struct workload_summary *summary,
                           const struct workload_load_terms *terms)
{
    const struct workload_load load = {.summary = summary, .terms = *terms};
    return bytes_of(&load);
}

enum pv_code workload_load_begin(const struct workload_summary *summary,
                                 const struct workload_load_terms *terms,
                                 struct arena *arena,
                                 struct workload_load **load,
                                 struct pv_error *err)
{
    if (terms->target == WORKLOAD_FOR_TASKS && summary->jobs > UINT32_MAX)
        return pv_fail(err, PV_E_LIMIT,
                       "the workload has %" PRIu64 " job%s, more than can be simulated",
                       summary->jobs, PLURAL(summary->jobs));
    const struct workload_load begun = {.summary = summary, .terms = *terms};
    struct layout layout = {.at = arena_alloc(arena, bytes_of(&begun))};
    if (layout.at == NULL)
        return pv_no_memory(err);
    struct workload_load *made = place(&layout, 1, sizeof *made);
    *made = begun;
    place_arrays(made, &layout);
    *load = made;
    return PV_OK;
}

/* --- a job --- */

static enum pv_code fail_chunk(struct pv_error *err)
{
    return pv_fail(err, PV_E_INVALID, "it holds more than the summary counts");
}

static bool keep_name(struct workload_load *load, struct strview name)
{
    if (load->names == NULL)
        return true;
    if (load->summary->name_bytes - load->n_name_bytes <= name.n)
        return false;
    char *to = load->name_bytes + load->n_name_bytes;
    if (name.n > 0)
        memcpy(to, name.at, name.n);
    to[name.n] = '\0';
    load->n_name_bytes += name.n + 1;
    load->names[load->n_jobs] = to;
    return true;
}

/* NAN, which is the size itself, where nothing is to be predicted or can be. */
static double predicted_size(const struct workload_load *load, const struct workload_job *job)
{
    struct workload_size_law law = load->summary->size_law;
    if (!isnan(job->predicted_size_s) || !load->terms.predict_from_input || isnan(job->input_bytes))
        return job->predicted_size_s;
    if (load->terms.seconds_per_byte > 0) {
        law.seconds_per_byte = load->terms.seconds_per_byte;
        law.jobs = 1;
    }
    return workload_predict_size(&law, job->input_bytes);
}

static void begin_slots_job(struct workload_load *load, const struct workload_job *job)
{
    struct slots_job *to = &load->slots[load->n_jobs];
    *to = (struct slots_job){.arrival_s = job->arrival_s,
                             .shuffle_s = job->shuffle_s,
                             .predicted_size_s = predicted_size(load, job),
                             .queue = job->queue > 0 ? job->queue - 1 : 0};
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++)
        to->task_lists[l].tasks = load->runs[l] + load->n_runs[l];
}

/* Its class may rest on its tasks, which are not all read yet. */
static void end_tasks_job(struct workload_load *load)
{
    if (load->n_jobs == 0)
        return;
    struct tasks_job *job = &load->tasks[load->n_jobs - 1];
    job->is_long = load->class == WORKLOAD_UNCLASSED
                       ? tasks_are_long(job->durations_s, job->tasks, load->terms.short_cutoff_s)
                       : load->class == WORKLOAD_LONG;
}

static bool begin_job(struct workload_load *load, const struct workload_job *job)
{
    if (load->n_jobs == load->summary->jobs || !keep_name(load, job->name))
        return false;
    if (load->slots != NULL) {
        begin_slots_job(load, job);
    } else {
        end_tasks_job(load);
        load->tasks[load->n_jobs] = (struct tasks_job){
            .arrival_s = job->arrival_s, .durations_s = load->durations_s + load->n_durations};
        load->class = job->class;
    }
    if (load->keys != NULL)
        load->keys[load->n_jobs] = (struct job_key){job->arrival_s, load->n_jobs};
    load->n_jobs++;
    return true;
}

/* --- its tasks --- */

static bool add_runs(struct workload_load *load,
                     enum workload_list list,
                     const struct workload_run runs[],
                     size_t n)
{
    if (load->summary->runs[list] - load->n_runs[list] < n)
        return false;
    for (size_t i = 0; i < n; i++)
        load->runs[list][load->n_runs[list]++] =
            (struct slots_tasks){runs[i].duration_s, runs[i].count};
    load->slots[load->n_jobs - 1].task_lists[list].n += n;
    return true;
}

static bool add_durations(struct workload_load *load, const struct workload_run runs[], size_t n)
{
    struct tasks_job *job = &load->tasks[load->n_jobs - 1];
    uint64_t room = tasks_of(load->summary) - load->n_durations;
    for (size_t i = 0; i < n; i++) {
        if (runs[i].count > room || runs[i].count > UINT32_MAX - job->tasks)
            return false;
        double *to = load->durations_s + load->n_durations;
        for (uint64_t k = 0; k < runs[i].count; k++)
            to[k] = runs[i].duration_s;
        room -= runs[i].count;
        load->n_durations += runs[i].count;
        job->tasks += (uint32_t)runs[i].count;
    }
    return true;
}

static enum pv_code read_runs(struct workload_load *load,
                              struct workload_chunk_reader *reader,
                              enum workload_list list,
                              size_t n,
                              struct pv_error *err)
{
    struct workload_run runs[RUNS_AT_ONCE];
    while (n > 0) {
        size_t part = n < RUNS_AT_ONCE ? n : RUNS_AT_ONCE;
        PV_TRY(workload_chunk_runs(reader, list, runs, part, err));
        if (load->slots != NULL ? !add_runs(load, list, runs, part)
                                : !add_durations(load, runs, part))
            return fail_chunk(err);
        n -= part;
    }
    return PV_OK;
}

static enum pv_code
read_entries(struct workload_load *load, struct workload_chunk_reader *reader, struct pv_error *err)
{
    struct workload_entry entry;
    bool more;
    PV_TRY(workload_chunk_next(reader, &entry, &more, err));
    if (more && entry.continues && load->n_jobs == 0)
        return pv_fail(err, PV_E_INVALID, "it continues a job, but is the first");
    while (more) {
        if (!entry.continues && !begin_job(load, &entry.job))
            return fail_chunk(err);
        for (unsigned l = 0; l < WORKLOAD_LISTS; l++)
            PV_TRY(read_runs(load, reader, (enum workload_list)l, entry.job.n_runs[l], err));
        PV_TRY(workload_chunk_next(reader, &entry, &more, err));
    }
    return PV_OK;
}

enum pv_code
workload_load_chunk(struct workload_load *load, struct strview bytes, struct pv_error *err)
{
    struct workload_chunk_reader reader;
    struct pv_error fault = {0};
    load->chunks++;
    enum pv_code code = workload_chunk_open(bytes, &reader, &fault);
    if (code == PV_OK)
        code = read_entries(load, &reader, &fault);
    if (code == PV_OK)
        return PV_OK;
    return pv_fail(err, code, "chunk %" PRIu64 " of the workload: %s", load->chunks, fault.detail);
}

/* --- finish --- */

static int by_arrival(const void *left, const void *right)
{
    const struct job_key *a = left;
    const struct job_key *b = right;
    int order = (a->arrival_s > b->arrival_s) - (a->arrival_s < b->arrival_s);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static void sort_jobs(struct workload_load *load)
{
    const struct job_key *keys = load->keys;
    qsort(load->keys, load->n_jobs, sizeof *load->keys, by_arrival);
    if (load->slots != NULL) {
        struct slots_job *sorted = load->sorted_jobs;
        for (size_t i = 0; i < load->n_jobs; i++)
            sorted[i] = load->slots[keys[i].index];
        load->slots = sorted;
    }
    if (load->tasks != NULL) {
        struct tasks_job *sorted = load->sorted_jobs;
        for (size_t i = 0; i < load->n_jobs; i++)
            sorted[i] = load->tasks[keys[i].index];
        load->tasks = sorted;
    }
    if (load->names != NULL) {
        for (size_t i = 0; i < load->n_jobs; i++)
            load->sorted_names[i] = load->names[keys[i].index];
        load->names = load->sorted_names;
    }
}

enum pv_code
workload_load_finish(struct workload_load *load, struct workload_jobs *jobs, struct pv_error *err)
{
    const struct workload_summary *summary = load->summary;
    bool whole = load->slots != NULL
                     ? load->n_runs[0] == summary->runs[0] && load->n_runs[1] == summary->runs[1]
                     : load->n_durations == tasks_of(summary);
    if (load->n_jobs != summary->jobs || !whole)
        return pv_fail(
            err, PV_E_INVALID,
            "%" PRIu64 " chunk%s of the workload %s %zu of its %" PRIu64 " job%s: there are more",
            load->chunks, PLURAL(load->chunks), PLURAL_VERB(load->chunks, "holds", "hold"),
            load->n_jobs, summary->jobs, PLURAL(summary->jobs));
    if (load->tasks != NULL)
        end_tasks_job(load);
    if (load->keys != NULL)
        sort_jobs(load);
    *jobs = (struct workload_jobs){load->n_jobs, load->slots, load->tasks, load->names};
    return PV_OK;
}
