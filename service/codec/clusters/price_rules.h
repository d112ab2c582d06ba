#ifndef CODEC_CLUSTERS_PRICE_RULES_H
#define CODEC_CLUSTERS_PRICE_RULES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Which members of a price go together, alike in a price book, in its CSV and in the constraints of
 * advice: executors are priced or machines, a spot price goes with one on demand of the same
 * kind, interruptions with a spot price, and a machine's size with its price.
 */
enum price_member {
    PRICE_EXECUTOR,
    PRICE_SPOT_EXECUTOR,
    PRICE_INTERRUPTIONS,
    PRICE_MACHINE,
    PRICE_SPOT_MACHINE,
    PRICE_MACHINE_CORES,
    PRICE_MACHINE_MEMORY,
    PRICE_MEMBERS
};

/* As price books have them. */
extern const char *const price_row_names[PRICE_MEMBERS];

struct price_fault {
    enum price_member at;
    enum price_member because; /* of this one, which is present */
    bool conflicts;            /* with it; false: it is lacking */
};

enum { PRICE_FAULTS_MAX = 5 };

/* present: which members were sent. Returns how many faults there are. */
size_t price_rules_check(const bool present[PRICE_MEMBERS],
                         struct price_fault faults[PRICE_FAULTS_MAX]);

#endif
