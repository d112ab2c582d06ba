#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

/* The ending of a noun behind a count: "%zu run%s". */
#define PLURAL(n) ((n) == 1 ? "" : "s")

#endif
