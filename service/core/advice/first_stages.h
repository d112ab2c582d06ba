#ifndef CORE_ADVICE_FIRST_STAGES_H
#define CORE_ADVICE_FIRST_STAGES_H

#include "core/advice/replay.h"

/*
 * Where a job begins: the stages of a recorded run that wait for no other stage and read from
 * storage, as they would be on a target. How many tasks a stage is cut into follows its law
 * (stage_law.h); what it reads grows with the problem size, which counts blocks of input.
 */
struct first_stage {
    int64_t id;
    struct strview name; /* at == NULL: unknown */
    size_t tasks;        /* >= 1 */
    double input_bytes;  /* > 0, of all tasks together */
};

/*
 * The first stages of the nearest run that has them: of the first of the runs, of the second, and
 * so on. Those that follow it help to learn the laws where they have the same stages.
 *
 * runs   n >= 1, nearest first. Borrowed.
 * stages live in `arena`, in the order of the run; scratch is back at its mark.
 *
 * PV_E_TOO_FEW where no run has them, and a clause in the detail that says what the first run
 * lacks: it has no stages or they lack task times, one that comes first does not hold input_bytes,
 * or none reads from storage. PV_E_MEMORY.
 */
enum pv_code first_stages_find(const struct run runs[],
                               size_t n,
                               const struct replay_target *target,
                               struct arena *arena,
                               struct arena *scratch,
                               struct first_stage **stages,
                               size_t *n_stages,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
