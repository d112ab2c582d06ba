#ifndef API_SCHEDULING_STATE_HISTORY_H
#define API_SCHEDULING_STATE_HISTORY_H

#include "base/arena.h"
#include "base/finding.h"
#include "base/strview.h"

/*
 * What the state before was, of states of a scheduler that follow one another: figures of its tasks
 * or jobs that can only grow. {0}: there was none.
 */
enum { STATE_FIGURES = 2 };

struct state_item {
    struct strview name; /* unique among the items */
    double figures[STATE_FIGURES];
};

/* How it is warned that a figure fell. */
struct state_words {
    const char *of;                  /* evidence: what an item is, "task" */
    const char *code[STATE_FIGURES]; /* "progress_fell" */
    const char *what[STATE_FIGURES]; /* "the progress" */
};

struct state_history {
    struct arena arena;
    struct state_item *items; /* by name */
    size_t n;
};

/*
 * Warnings: figures of items that are in both states and were larger before, with the first such
 * item. Then this state is remembered instead. `items` are sorted; names are copied, but findings
 * borrow them. PV_E_MEMORY. O(n log n).
 */
enum pv_code state_history_follow(struct state_history *history,
                                  const struct state_words *words,
                                  struct state_item items[],
                                  size_t n,
                                  struct findings *warnings,
                                  struct pv_error *err) PV_MUSTCHECK;

void state_history_forget(struct state_history *history);

#endif
