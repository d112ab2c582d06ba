#ifndef CORE_HISTORY_RUN_REACH_H
#define CORE_HISTORY_RUN_REACH_H

#include "core/history/run.h"

/*
 * Whether a report of a run reaches at least as far as another of the same run: a log is read
 * while it is written, and its reports may arrive in any order. One that has ended reaches as far
 * as any; one that has not, never as far as one that has. Of two that have not, that with the later
 * last event reaches further, then that with more tasks, stages, jobs. What is unknown is behind
 * what is known.
 */
bool run_reaches(const struct run *run, const struct run *other);

/* The run that is stored of a log (by application id and attempt), when another report of it comes.
 */
struct known_log {
    bool ended;
    bool same;       /* both digests are known and equal */
    bool undigested; /* its own digest is not known: the run was imported without */
};

enum run_verdict {
    RUN_VERDICT_INSERT,
    RUN_VERDICT_KEEP,
    RUN_VERDICT_REPLACE,
    RUN_VERDICT_CONFLICT
};

/*
 * What becomes of `run`, where `stored` is there: the same log keeps what is stored; one that has
 * ended completes one of unknown digest; another log of one that has ended is a conflict; else the
 * report that reaches further stays. has_digest: of `run`.
 */
enum run_verdict run_log_verdict(const struct run *run,
                                 bool has_digest,
                                 const struct known_log *known,
                                 const struct run *stored);

#endif
