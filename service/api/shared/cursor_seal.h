#ifndef API_SHARED_CURSOR_SEAL_H
#define API_SHARED_CURSOR_SEAL_H

#include "api/shared/cursor.h"

/*
 * A cursor as text and back, under a key: base64url of version, MAC, instant and text. The MAC
 * covers the team and the scope, so a cursor opens only where it was made.
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
