#ifndef BASE_JSON_PROJECTION_H
#define BASE_JSON_PROJECTION_H

#include "base/arena.h"
#include "base/strview.h"

/*
 * A part of a JSON text: the members that are selected, in the order of the text, their values byte
 * for byte as they are. Only the text is read, no tree is built; what is not selected is skipped in
 * one pass.
 */
struct json_selection {
    struct strview name;           /* as it stands in the text; at == NULL: any name */
    struct json_selection *next;   /* the next name of the same object */
    struct json_selection *within; /* of its value; NULL: all of it */
};

/*
 * json       one value. Names are compared as they are written, so that an escaped one matches only
 *            a name that is escaped alike.
 * selection  of an object its members; of an array those of each of its items, also where arrays
 *            are nested; anything else is copied whole. The first name that matches counts.
 * out        in the arena, no longer than json, NUL-terminated; written only on success.
 *
 * false: memory is exhausted, or the text is no JSON.
 */
bool json_project(struct strview json,
                  const struct json_selection *selection,
                  struct arena *arena,
                  struct strview *out);

#endif
