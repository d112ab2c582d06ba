#include "base/ledger.h"

#include <stdint.h>

static bool threshold_holds(size_t own, size_t free)
{
    return own / LEDGER_THRESHOLD + (own % LEDGER_THRESHOLD != 0) <= free;
}

static bool share_allows(const struct ledger *ledger, size_t own, size_t all)
{
    size_t max = ledger->max;
    return max == 0 || (all <= max && (own <= ledger->unit || threshold_holds(own, max - all)));
}

/* First taken, then looked at: of two that come together for the last of it, both may be refused,
 * never both accepted. */
static bool share_take(struct ledger_share *share, size_t n)
{
    struct ledger *ledger = share->ledger;
    if (ledger->max != 0 && n > ledger->max)
        return false; /* the sums below do not wrap round */
    size_t own = atomic_fetch_add(&share->used, n) + n;
    size_t all = atomic_fetch_add(&ledger->used, n) + n;
    if (share_allows(ledger, own, all))
        return true;
    (void)atomic_fetch_sub(&share->used, n);
    (void)atomic_fetch_sub(&ledger->used, n);
    return false;
}

bool ledger_take(struct ledger_account *account, size_t n)
{
    if (account == NULL || account->share == NULL)
        return true;
    if (!share_take(account->share, n)) {
        account->refused = true;
        account->wanted = n > SIZE_MAX - account->used ? SIZE_MAX : account->used + n;
        return false;
    }
    account->used += n;
    return true;
}

void ledger_take_anyway(struct ledger_account *account, size_t n)
{
    if (account == NULL || account->share == NULL)
        return;
    account->used += n;
    (void)atomic_fetch_add(&account->share->used, n);
    (void)atomic_fetch_add(&account->share->ledger->used, n);
}

bool ledger_is_within(const struct ledger_account *account)
{
    const struct ledger_share *share = account->share;
    return share == NULL || share_allows(share->ledger, atomic_load(&share->used),
                                         atomic_load(&share->ledger->used));
}

void ledger_give(struct ledger_account *account, size_t n)
{
    if (account == NULL || account->share == NULL)
        return;
    account->used -= n;
    (void)atomic_fetch_sub(&account->share->used, n);
    (void)atomic_fetch_sub(&account->share->ledger->used, n);
}

void ledger_move(struct ledger_account *account, struct ledger_share *share)
{
    if (account->share != NULL)
        (void)atomic_fetch_sub(&account->share->used, account->used);
    if (account->share == NULL)
        account->used = 0;
    account->share = share;
    (void)atomic_fetch_add(&share->used, account->used);
}

bool ledger_fits_alone(const struct ledger_account *account)
{
    const struct ledger *ledger = account->share->ledger;
    size_t n = account->wanted;
    return ledger->max == 0 ||
           (n <= ledger->max && (n <= ledger->unit || threshold_holds(n, ledger->max - n)));
}

bool ledger_is_shared(const struct ledger_account *account)
{
    const struct ledger_share *share = account->share;
    return share != NULL && atomic_load(&share->ledger->used) > atomic_load(&share->used);
}
