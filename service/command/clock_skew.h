#ifndef COMMAND_CLOCK_SKEW_H
#define COMMAND_CLOCK_SKEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/*
 * How far this machine's clock and the database's are apart. Identifiers, and with them the months
 * that rows lie in, come from this one, times of the database and the expiry of tokens from the
 * other. Safe from any thread.
 */
struct clock_skew {
    int64_t warn_us;          /* 0: never */
    _Atomic int64_t ahead_us; /* of the database's clock */
    atomic_bool known;
    atomic_bool warned;
};

void clock_skew_init(struct clock_skew *skew, int64_t warn_us);
/* Another measurement. One that says little since the database was slow to answer is left out.
 * Logged when the clocks have come to differ by more than warn_us, and when they agree again. */
void clock_skew_note(struct clock_skew *skew, const struct store_clock *seen);
/* The newest, positive when the database's clock is ahead; false: none yet. */
bool clock_skew_read(const struct clock_skew *skew, double *seconds);

#endif
