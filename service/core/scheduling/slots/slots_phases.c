#include "core/scheduling/slots/slots_phases.h"

bool slots_phases_init(struct slots_phases *phases,
                       size_t concurrency,
                       size_t n_jobs,
                       void (*entered)(void *state, enum slots_kind phase, size_t job),
                       void *state,
                       struct arena *arena)
{
    *phases = (struct slots_phases){.concurrency = concurrency, .entered = entered, .state = state};
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        struct slots_job_list *waiting = &phases->waiting[kind];
        phases->in_phase[kind] = arena_calloc(arena, n_jobs, sizeof **phases->in_phase);
        waiting->jobs = arena_array(arena, n_jobs, sizeof *waiting->jobs);
        if (phases->in_phase[kind] == NULL || waiting->jobs == NULL)
            return false;
    }
    return true;
}

size_t slots_phases_next(const struct slots_phases *phases, enum slots_kind phase)
{
    const struct slots_job_list *waiting = &phases->waiting[phase];
    return waiting->first < waiting->n ? waiting->jobs[waiting->first] : SLOTS_NOBODY;
}

static void wait_for(struct slots_phases *phases, enum slots_kind phase, size_t job)
{
    phases->waiting[phase].jobs[phases->waiting[phase].n++] = job;
}

static void enter_waiting(struct slots_phases *phases, enum slots_kind phase)
{
    size_t job;
    while (phases->n_in_phase[phase] < phases->concurrency &&
           (job = slots_phases_next(phases, phase)) != SLOTS_NOBODY) {
        phases->waiting[phase].first++;
        phases->in_phase[phase][job] = true;
        phases->n_in_phase[phase]++;
        phases->entered(phases->state, phase, job);
    }
}

static void leave(struct slots_phases *phases, enum slots_kind phase, size_t job)
{
    if (!phases->in_phase[phase][job])
        return;
    phases->in_phase[phase][job] = false;
    phases->n_in_phase[phase]--;
}

static void enter_phases(struct slots_phases *phases)
{
    enter_waiting(phases, SLOTS_REDUCE);
    enter_waiting(phases, SLOTS_MAP);
}

void slots_phases_arrived(struct slots_phases *phases, size_t job, bool has_maps)
{
    wait_for(phases, has_maps ? SLOTS_MAP : SLOTS_REDUCE, job);
    enter_phases(phases);
}

void slots_phases_maps_ended(struct slots_phases *phases, size_t job, bool has_reduces)
{
    leave(phases, SLOTS_MAP, job);
    if (has_reduces)
        wait_for(phases, SLOTS_REDUCE, job);
    enter_phases(phases);
}

void slots_phases_job_ended(struct slots_phases *phases, size_t job)
{
    leave(phases, SLOTS_REDUCE, job);
    enter_phases(phases);
}
