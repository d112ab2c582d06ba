#include "api/deadlines/enough_cores.h"

#include <string.h>

#include "base/order.h"

enum { TRIES_MAX = 12 };

/* The set with its jobs made for so many cores. PV_E_TOO_FEW: there is no prediction for them. */
static enum pv_code make_set(const struct config *config,
                             const struct codec_job_set *set,
                             size_t cores,
                             struct arena *arena,
                             struct codec_job_set *made,
                             struct pv_error *err)
{
    const size_t each = (size_t)set->size.cores_per_executor;
    struct pv_error why = {0};
    *made = *set;
    made->jobs = arena_array(arena, set->n_jobs, sizeof *made->jobs);
    if (made->jobs == NULL)
        return pv_no_memory(err);
    memcpy(made->jobs, set->jobs, set->n_jobs * sizeof *made->jobs);
    made->cores = cores;
    made->size.executors = (int64_t)((cores + each - 1) / each);
    enum pv_code code = job_set_make_jobs(config, arena, made, &why);
    return code == PV_OK || code == PV_E_MEMORY ? code : PV_E_TOO_FEW;
}

static enum pv_code try_cores(const struct config *config,
                              const struct codec_job_set *set,
                              size_t cores,
                              uint64_t budget,
                              struct arena *scratch,
                              struct edf_remedies *found,
                              struct pv_error *err)
{
    struct codec_job_set made;
    PV_TRY(make_set(config, set, cores, scratch, &made, err));
    return edf_find_remedies(made.jobs, made.n_jobs, cores, budget, scratch, scratch, found, err);
}

/* No larger number is tried: every task has a core, or no prediction goes further. */
static int64_t most_cores(const struct config *config, const struct codec_job_set *set)
{
    const int64_t most =
        smaller_int64(config->cores_max, config->executors_max * set->size.cores_per_executor);
    return smaller_int64(most, (int64_t)codec_job_set_tasks(set));
}

/* The next number of cores: what the last try found, within what is still open. */
static int64_t
next_cores(const struct edf_remedies *last, int64_t tried, int64_t too_few, int64_t enough)
{
    const int64_t guess = last->has_min_total_cores ? (int64_t)last->min_total_cores : 2 * tried;
    return smaller_int64(larger_int64(guess, too_few + 1), enough - 1);
}

enum pv_code enough_cores_find(const struct config *config,
                               const struct codec_job_set *set,
                               uint64_t budget,
                               struct arena *scratch,
                               struct edf_remedies *remedies,
                               struct pv_error *err)
{
    const int64_t most = most_cores(config, set);
    int64_t too_few = (int64_t)set->cores, enough = most + 1;
    size_t tries = 0;
    struct edf_remedies last = *remedies;
    enum pv_code code = PV_OK;
    int64_t cores = next_cores(&last, too_few, too_few, enough);
    for (; code == PV_OK && cores > too_few && tries < TRIES_MAX; tries++) {
        struct arena_mark mark = arena_mark(scratch);
        code = try_cores(config, set, (size_t)cores, budget, scratch, &last, err);
        arena_rewind(scratch, mark);
        if (code == PV_OK && last.has_min_total_cores && (int64_t)last.min_total_cores <= cores)
            enough = cores;
        else
            too_few = cores;
        cores = next_cores(&last, cores, too_few, enough);
    }
    if (code != PV_OK && code != PV_E_TOO_FEW)
        return code;
    remedies->has_min_total_cores = enough <= most;
    remedies->min_total_cores = enough <= most ? (size_t)enough : 0;
    if (enough <= most)
        remedies->too_long = set->n_jobs;
    remedies->exact = remedies->exact && last.exact && too_few + 1 >= enough;
    return PV_OK;
}
