#ifndef BASE_MEMORY_ACCOUNT_H
#define BASE_MEMORY_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * What the requests of a process hold together, so that it never needs more memory than there is.
 * Owners (teams) share it by dynamic thresholds (A. K. Choudhury, E. L. Hahne, "Dynamic queue length
 * thresholds for shared-memory packet switches", IEEE/ACM Trans. Networking 6, 1998): each may hold
 * at most MEMORY_THRESHOLD times of what is free. One alone comes to three quarters, two to three
 * sevenths each, and a part is always left for whoever comes next. Safe from any thread.
 */
enum { MEMORY_THRESHOLD = 3 };

struct memory_ledger {
    size_t max; /* 0: no bound */
    atomic_size_t used;
};

/* What one owner holds; many accounts take from it. */
struct memory_share {
    struct memory_ledger *ledger;
    atomic_size_t used;
};

/* What one request holds. Not safe for use from two threads at a time. */
struct memory_account {
    struct memory_share *share; /* NULL: nothing is counted */
    size_t used;
    bool refused; /* the share had no more */
};

/* false: refused, and said so in the account. account may be NULL. */
bool memory_take(struct memory_account *account, size_t n);
void memory_give(struct memory_account *account, size_t n);

/* What the account holds, and will take, is another share's from now on. */
void memory_move(struct memory_account *account, struct memory_share *share);

/* Others hold something of the ledger, too. */
bool memory_is_shared(const struct memory_account *account);

#endif
