#ifndef CODEC_SCHEDULING_SPECULATION_HISTORY_H
#define CODEC_SCHEDULING_SPECULATION_HISTORY_H

#include "codec/scheduling/speculation.h"

/*
 * The tasks of the state before, of states that follow one another: a task that runs in both has
 * neither lost progress nor become younger. {0}: there was none.
 */
struct codec_speculation_history {
    struct arena arena;
    struct codec_speculation_past *tasks; /* by id */
    size_t n;
};

/*
 * Warnings: what contradicts the state before (`progress_fell`, `elapsed_fell`, with the first such
 * task). Then this state is remembered instead. PV_E_MEMORY: that failed. O(n log n).
 */
enum pv_code codec_speculation_follow(struct codec_speculation_history *history,
                                      const struct codec_speculation *now,
                                      struct arena *scratch,
                                      struct findings *warnings,
                                      struct pv_error *err) PV_MUSTCHECK;

void codec_speculation_forget(struct codec_speculation_history *history);

#endif
