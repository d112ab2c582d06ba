#ifndef STORE_USAGE_TALLY_H
#define STORE_USAGE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The advice and kept replies that this process has stored and not yet counted in the database, by
 * team. Adding to a row of a table takes a third of what storing a piece of advice takes by itself,
 * so several are counted together: a 256th of what the team still may store or, if that is less, of
 * what it has stored (but then 16 pieces or 64 kB at least), and at most what stands below. Close
 * to its quota each is counted at once. Nothing is added to what has waited for TALLY_WAIT_S, so
 * that a quota that was changed is soon looked at. What a process had not counted when it ended is
 * found by the next recount.
 */
enum { TALLY_BATCH_MAX = 64, TALLY_BATCH_BYTES_MAX = 1 << 20, TALLY_WAIT_S = 5 };

struct tally_amounts {
    int64_t advice;
    int64_t replies;
    int64_t bytes;
};

struct tally;
struct tally *tally_create(void); /* NULL: no memory */
void tally_destroy(struct tally *tally);

/*
 * Add what the caller stores. True: *take is all that is not counted yet, and the caller counts
 * it in its transaction; false: it is counted later. *owed is what has to be subtracted again
 * where the transaction ends without effect (tally_undo). now_ns: clock_monotonic_ns.
 */
bool tally_add(struct tally *tally,
               const char *team_id,
               const struct tally_amounts *more,
               uint64_t now_ns,
               struct tally_amounts *take,
               struct tally_amounts *owed);
void tally_undo(struct tally *tally, const char *team_id, const struct tally_amounts *owed);

/* What was taken has been counted; from now on so many (1 or more of each) are counted together. */
void tally_set_batch(struct tally *tally,
                     const char *team_id,
                     const struct tally_amounts *batch,
                     uint64_t now_ns);

/* What is not counted yet. */
struct tally_amounts tally_pending(struct tally *tally, const char *team_id);

#endif
