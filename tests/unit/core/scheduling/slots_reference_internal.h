#ifndef TESTS_SLOTS_REFERENCE_INTERNAL_H
#define TESTS_SLOTS_REFERENCE_INTERNAL_H

#include "slots_reference.h"

/* The plain simulator's state, of which there is one. */
enum { TASKS_MAX = 256, JOBS_MAX = 16, SLOTS_MAX = 32, QUEUES_MAX = 8 };

enum phase { PENDING, HOLDS_SLOT, WORKS, ENDED };

struct task {
    size_t job;
    enum slots_kind kind;
    double duration_s;
    enum phase phase;
    double given_s, begin_s; /* begin_s: NAN as long as it is not known */
    size_t slot;
};

struct slot {
    enum slots_kind kind;
    size_t partition;
    bool taken;
};

struct reference {
    const struct slots_job *jobs;
    const struct slots_terms *terms;
    double slow_start, now_s;
    struct task tasks[TASKS_MAX];
    size_t n_tasks;
    struct slot slots[SLOTS_MAX];
    size_t n_slots, n_of_kind[SLOTS_KINDS];
    size_t n, order[JOBS_MAX], rank[JOBS_MAX], n_arrived;
    bool arrived[JOBS_MAX], maps_told[JOBS_MAX], end_told[JOBS_MAX];
    struct slots_job_times *times;
    /* of policies */
    size_t queue[JOBS_MAX];
    size_t place[JOBS_MAX], places;
    bool in_m[JOBS_MAX], in_r[JOBS_MAX];
    size_t m_waits[JOBS_MAX], n_m_waits, p[JOBS_MAX], n_p;
    double ended_sizes[JOBS_MAX];
    size_t n_ended;
    double entered_m_s[JOBS_MAX];
    double frequency, available; /* omo */
    size_t windows, released_before;
};

extern struct reference ref;

/* Tasks of a job in these phases. */
size_t reference_count(size_t job, enum slots_kind kind, bool pending, bool holding, bool ended);

/* Slots of no fixed kind: whom one goes to, and for which kind of task; SLOTS_NOBODY. */
size_t reference_choose_fresh(enum slots_kind *kind);
size_t reference_choose_omo(enum slots_kind *kind);

/* Before an instant: windows of omo that ended before it. */
void reference_close_windows(void);

#endif
