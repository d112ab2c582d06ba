#ifndef API_SHARED_CURSOR_H
#define API_SHARED_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* The place in a collection behind which its next page begins. */
struct cursor {
    int64_t instant_us; /* RUN_NO_INSTANT for collections sorted by text */
    char text[256 * 4]; /* id or name of the last item seen */
};

/*
 * A cursor as text and back, under a key: base64url of version, MAC, instant and text. The MAC
 * covers the team and the scope, the collection with its filters, so a cursor opens only where it
 * was made.
 */

/* Text of a cursor in the arena; NULL when memory is exhausted. */
char *cursor_seal(const unsigned char key[32],
                  const char *team_id,
                  const char *scope,
                  const struct cursor *cursor,
                  struct arena *arena);

/* false: not a cursor, or one of another team, scope or key. *cursor is untouched then. */
bool cursor_unseal(const unsigned char key[32],
                   const char *team_id,
                   const char *scope,
                   const char *text,
                   struct cursor *cursor);

#endif
