#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

/* The ending of a noun behind a count: "%zu run%s". */
#define PLURAL(n) ((n) == 1 ? "" : "s")

/* The verb behind it, where its forms differ: "%zu run%s %s left out". */
#define PLURAL_VERB(n, of_one, of_many) ((n) == 1 ? (of_one) : (of_many))

#endif
