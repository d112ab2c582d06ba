#ifndef CORE_SPARK_PROPOSAL_H
#define CORE_SPARK_PROPOSAL_H

#include "base/strview.h"

/*
 * Changes of Spark properties that a caller has to ask for, by kind. A change without a kind belongs to the
 * recommended executors and is made without being asked for. A change of a kind that the caller does not
 * ask for is a proposal: it is shown with its reason and set nowhere.
 */
enum spark_proposal {
    PROPOSAL_NONE = 0,   /* belongs to the executors */
    PROPOSAL_MEMORY = 1, /* memory that runs show to be short, or not to be used */
    PROPOSAL_SPECULATION =
        2,                  /* a second attempt may write the output twice: only the author knows */
    PROPOSAL_PARTITIONS = 4 /* of shuffles and of input */
};

/* In the order of the bits, NULL-terminated. */
extern const char *const spark_proposal_words[];

/* Bit of that name; 0: it is not the name of a kind. */
unsigned spark_proposal_of(struct strview word);

/* Its name on the wire, of one kind; NULL for PROPOSAL_NONE. */
const char *spark_proposal_word(enum spark_proposal kind);

#endif
