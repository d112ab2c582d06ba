#include "base/memory_account.h"

/* First taken, then looked at: of two that come together for the last of it, both may be refused,
 * never both accepted. */
static bool share_take(struct memory_share *share, size_t n)
{
    struct memory_ledger *ledger = share->ledger;
    if (ledger->max != 0 && n > ledger->max)
        return false; /* the sums below do not wrap round */
    size_t own = atomic_fetch_add(&share->used, n) + n;
    size_t all = atomic_fetch_add(&ledger->used, n) + n;
    size_t max = ledger->max;
    if (max == 0 || (all <= max && own / MEMORY_THRESHOLD <= max - all))
        return true;
    (void)atomic_fetch_sub(&share->used, n);
    (void)atomic_fetch_sub(&ledger->used, n);
    return false;
}

bool memory_take(struct memory_account *account, size_t n)
{
    if (account == NULL || account->share == NULL)
        return true;
    if (!share_take(account->share, n)) {
        account->refused = true;
        return false;
    }
    account->used += n;
    return true;
}

void memory_give(struct memory_account *account, size_t n)
{
    if (account == NULL || account->share == NULL)
        return;
    account->used -= n;
    (void)atomic_fetch_sub(&account->share->used, n);
    (void)atomic_fetch_sub(&account->share->ledger->used, n);
}

void memory_move(struct memory_account *account, struct memory_share *share)
{
    if (account->share != NULL)
        (void)atomic_fetch_sub(&account->share->used, account->used);
    if (account->share == NULL)
        account->used = 0;
    account->share = share;
    (void)atomic_fetch_add(&share->used, account->used);
}

bool memory_is_shared(const struct memory_account *account)
{
    const struct memory_share *share = account->share;
    return share != NULL && atomic_load(&share->ledger->used) > atomic_load(&share->used);
}
