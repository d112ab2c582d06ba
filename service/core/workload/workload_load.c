#include "core/workload/workload_load.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/workload/workload_chunk.h"

enum { RUNS_AT_ONCE = 256 };

/* An arena rounds sizes up and begins blocks; each array is alone in one at worst. */
enum { ARRAYS_MOST = 10, ARRAY_EXTRA = 4096 };

/* A job's place among all that are loaded. */
struct job_key {
    double arrival_s;
    size_t index;
};

struct workload_load {
    const struct workload_summary *summary;
    struct workload_load_terms terms;
    struct arena *arena;
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

/* Add count * size bytes. */
static void add_bytes(size_t *bytes, uint64_t count, size_t size)
{
    size_t more;
    if (__builtin_mul_overflow(count, size, &more) || __builtin_add_overflow(*bytes, more, bytes) ||
        __builtin_add_overflow(*bytes, (size_t)ARRAY_EXTRA, bytes))
        *bytes = SIZE_MAX;
}

size_t workload_load_bytes(const struct workload_summary *summary,
                           const struct workload_load_terms *terms)
{
    bool slots = terms->target == WORKLOAD_FOR_SLOTS;
    size_t job = slots ? sizeof(struct slots_job) : sizeof(struct tasks_job);
    size_t bytes = 0;
    unsigned copies = summary->sorted ? 1 : 2;
    add_bytes(&bytes, 1, sizeof(struct workload_load));
    add_bytes(&bytes, summary->jobs, job * copies);
    if (slots)
        add_bytes(&bytes, summary->runs[0] + summary->runs[1], sizeof(struct slots_tasks));
    else
        add_bytes(&bytes, tasks_of(summary), sizeof(double));
    if (terms->names) {
        add_bytes(&bytes, summary->jobs, sizeof(const char *) * copies);
        add_bytes(&bytes, summary->name_bytes, 1);
    }
    if (!summary->sorted)
        add_bytes(&bytes, summary->jobs, sizeof(struct job_key));
    add_bytes(&bytes, ARRAYS_MOST, ARRAY_EXTRA);
    return bytes;
}

/* An array in the arena; *failed where there is no memory for it. */
static void *array_of(struct workload_load *load, uint64_t count, size_t size, bool *failed)
{
    void *array = *failed ? NULL : arena_array(load->arena, count, size);
    *failed = array == NULL;
    return array;
}

static bool make_arrays(struct workload_load *load)
{
    const struct workload_summary *summary = load->summary;
    bool failed = false;
    uint64_t jobs = summary->jobs;
    bool slots = load->terms.target == WORKLOAD_FOR_SLOTS;
    size_t job = slots ? sizeof(struct slots_job) : sizeof(struct tasks_job);
    void *all = array_of(load, jobs, job, &failed);
    load->slots = slots ? all : NULL;
    load->tasks = slots ? NULL : all;
    for (unsigned l = 0; l < WORKLOAD_LISTS && slots; l++)
        load->runs[l] = array_of(load, summary->runs[l], sizeof *load->runs[l], &failed);
    if (!slots)
        load->durations_s = array_of(load, tasks_of(summary), sizeof(double), &failed);
    if (load->terms.names) {
        load->names = array_of(load, jobs, sizeof *load->names, &failed);
        load->name_bytes = array_of(load, summary->name_bytes, 1, &failed);
    }
    if (!summary->sorted) {
        load->keys = array_of(load, jobs, sizeof *load->keys, &failed);
        load->sorted_jobs = array_of(load, jobs, job, &failed);
        if (load->terms.names)
            load->sorted_names = array_of(load, jobs, sizeof *load->names, &failed);
    }
    return !failed;
}

enum pv_code workload_load_begin(const struct workload_summary *summary,
                                 const struct workload_load_terms *terms,
                                 struct arena *arena,
                                 struct workload_load **load,
                                 struct pv_error *err)
{
    if (terms->target == WORKLOAD_FOR_TASKS && summary->jobs > UINT32_MAX)
        return pv_fail(err, PV_E_LIMIT, "a workload of %" PRIu64 " jobs cannot be simulated",
                       summary->jobs);
    struct workload_load *made = arena_calloc(arena, 1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->summary = summary;
    made->terms = *terms;
    made->arena = arena;
    if (!make_arrays(made))
        return pv_no_memory(err);
    *load = made;
    return PV_OK;
}

/* --- a job --- */

static enum pv_code fail_chunk(const struct workload_load *load, struct pv_error *err)
{
    return pv_fail(err, PV_E_INVALID, "chunk %" PRIu64 " holds more than the summary counts",
                   load->chunks);
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

static void begin_slots_job(struct workload_load *load, const struct workload_job *job)
{
    struct slots_job *to = &load->slots[load->n_jobs];
    *to = (struct slots_job){.arrival_s = job->arrival_s,
                             .shuffle_s = job->shuffle_s,
                             .predicted_size_s = job->predicted_size_s,
                             .queue = job->queue > 0 ? job->queue - 1 : 0};
    if (load->terms.predict_from_input && isnan(to->predicted_size_s) && !isnan(job->input_bytes))
        to->predicted_size_s = workload_predict_size(&load->summary->size_law, job->input_bytes);
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
            return fail_chunk(load, err);
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
        return pv_fail(err, PV_E_INVALID, "it goes on with a job, but is the first");
    while (more) {
        if (!entry.continues && !begin_job(load, &entry.job))
            return fail_chunk(load, err);
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
    struct slots_job *slots = load->sorted_jobs;
    struct tasks_job *tasks = load->sorted_jobs;
    qsort(load->keys, load->n_jobs, sizeof *load->keys, by_arrival);
    for (size_t i = 0; i < load->n_jobs; i++) {
        size_t from = load->keys[i].index;
        if (load->slots != NULL)
            slots[i] = load->slots[from];
        else
            tasks[i] = load->tasks[from];
        if (load->names != NULL)
            load->sorted_names[i] = load->names[from];
    }
    load->slots = load->slots != NULL ? slots : NULL;
    load->tasks = load->tasks != NULL ? tasks : NULL;
    load->names = load->sorted_names;
}

enum pv_code
workload_load_finish(struct workload_load *load, struct workload_jobs *jobs, struct pv_error *err)
{
    const struct workload_summary *summary = load->summary;
    bool whole = load->slots != NULL
                     ? load->n_runs[0] == summary->runs[0] && load->n_runs[1] == summary->runs[1]
                     : load->n_durations == tasks_of(summary);
    if (load->n_jobs != summary->jobs || !whole)
        return pv_fail(err, PV_E_INVALID,
                       "the workload has %zu of %" PRIu64 " jobs in %" PRIu64
                       " chunks: one is missing",
                       load->n_jobs, summary->jobs, load->chunks);
    if (load->tasks != NULL)
        end_tasks_job(load);
    if (load->keys != NULL)
        sort_jobs(load);
    *jobs = (struct workload_jobs){load->n_jobs, load->slots, load->tasks, load->names};
    return PV_OK;
}
