#include "core/deadline/edf_changes.h"

#include <assert.h>

#include "core/deadline/edf_searches.h"

static bool is_infeasible(struct edf_trial *trial)
{
    edf_trial_begin(trial, UINT64_MAX);
    return edf_trial_run(trial, NULL) != EDF_REPLAY_DONE;
}

static enum pv_code find_changes(struct edf_trial *trial,
                                 const double raised_deadlines_s[],
                                 uint64_t budget,
                                 struct arena *arena,
                                 struct arena *scratch,
                                 struct edf_changes *found,
                                 struct pv_error *err)
{
    PV_TRY(edf_find_one_later_deadline(trial, budget, arena, scratch, &found->one_later_deadline,
                                       err));
    PV_TRY(edf_find_later_deadlines(trial, budget, raised_deadlines_s, &found->one_later_deadline,
                                    arena, scratch, &found->later_deadlines, err));
    PV_TRY(
        edf_find_one_later_release(trial, budget, arena, scratch, &found->one_later_release, err));
    PV_TRY(edf_find_later_releases(trial, budget, arena, scratch, &found->later_releases, err));
    return edf_find_left_out(trial, budget, arena, scratch, &found->left_out, err);
}

enum pv_code edf_find_changes(const struct edf_job jobs[],
                              size_t n_jobs,
                              size_t cores,
                              const double raised_deadlines_s[],
                              uint64_t task_budget,
                              struct arena *arena,
                              struct arena *scratch,
                              struct edf_changes *changes,
                              struct pv_error *err)
{
    assert(cores > 0 && n_jobs > 0 && arena != scratch);
    struct arena_mark mark = arena_mark(scratch);
    struct edf_trial trial;
    struct edf_changes found = {.one_later_deadline = {.exact = true, .irreducible = true},
                                .later_deadlines = {.exact = true, .irreducible = true},
                                .one_later_release = {.exact = true, .irreducible = true},
                                .left_out = {.exact = true, .irreducible = true}};
    enum pv_code code = edf_trial_init(&trial, jobs, n_jobs, cores, scratch, err);
    if (code == PV_OK && is_infeasible(&trial))
        code = find_changes(&trial, raised_deadlines_s, task_budget, arena, scratch, &found, err);
    arena_rewind(scratch, mark);
    if (code == PV_OK)
        *changes = found;
    return code;
}
