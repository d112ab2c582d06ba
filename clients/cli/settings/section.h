#ifndef CLI_SETTINGS_SECTION_H
#define CLI_SETTINGS_SECTION_H

#include <stddef.h>

#include "cli/failure.h"

/*
 * Set keys in a section of an INI file; all other lines stay as they are. The file is written anew
 * beside the old one with the given mode and then takes its place, so that it is never half written.
 * Folders on the way are made with mode 0700.
 */
struct section_key {
    const char *key;
    const char *value; /* NULL: the key is removed */
};

/* Wait for others who write files of that folder, which is made if necessary. A descriptor to close;
 * negative: recorded. */
int section_lock(const char *file, struct failure *failure);

bool section_set(const char *file,
                 unsigned mode,
                 const char *section,
                 const struct section_key keys[],
                 size_t n,
                 struct failure *failure);

#endif
