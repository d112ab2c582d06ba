#ifndef BASE_LEDGER_H
#define BASE_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * What is held of a resource of the process (bytes of memory or disk, places), so that there is
 * always some for whoever comes next. Owners (teams) share it by dynamic thresholds (A. K.
 * Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
 * IEEE/ACM Trans. Networking 6, 1998): each may hold at most LEDGER_THRESHOLD times of what is
 * free. One alone comes to three quarters, two to three sevenths each. Safe from any thread.
 */
enum { LEDGER_THRESHOLD = 3 };

struct ledger {
    size_t max;  /* 0: no bound */
    size_t unit; /* who holds no more than that is bounded by max alone: 1 of places, 0 of bytes */
    atomic_size_t used;
};

/* What one owner holds; many accounts take from it. */
struct ledger_share {
    struct ledger *ledger;
    atomic_size_t used;
};

/* What one request holds. Not safe for use from two threads at a time. */
struct ledger_account {
    struct ledger_share *share; /* NULL: nothing is counted */
    atomic_size_t used;         /* others may look */
    size_t wanted;              /* what it would have held when it was refused last */
    bool refused;               /* the share had no more */
};

/* false: refused, and said so in the account. account may be NULL. */
bool ledger_take(struct ledger_account *account, size_t n);
void ledger_give(struct ledger_account *account, size_t n);

/* The same whatever the share, for what is there already: ledger_is_within says what to make of it.
 * The bound is for the caller to keep. */
void ledger_take_anyway(struct ledger_account *account, size_t n);

/* The owner holds no more than its share comes to just now. */
bool ledger_is_within(const struct ledger_account *account);

/* What the account holds, and will take, is another share's from now on. */
void ledger_move(struct ledger_account *account, struct ledger_share *share);

/* What was refused last would have been had nobody else held anything. */
bool ledger_fits_alone(const struct ledger_account *account);

/* Others hold something of the ledger, too. */
bool ledger_is_shared(const struct ledger_account *account);

#endif
