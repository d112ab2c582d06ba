#ifndef STORE_NAME_HINT_H
#define STORE_NAME_HINT_H

#include "store/store.h"

/* What a name that is not there may have been meant to be. */
enum store_names { STORE_NAMES_APPLICATIONS, STORE_NAMES_CLUSTERS, STORE_NAMES_PRICE_BOOKS };

/*
 * "; did you mean "nightly-etl"?", to follow a message that there is no `name`; "" where none of the
 * team's names is near (base/nearest.h), or they cannot be read. The first 5,000 by name are looked
 * at. The text is in the arena.
 */
const char *
store_name_hint(struct store_tx *tx, struct arena *arena, enum store_names among, const char *name);

#endif
