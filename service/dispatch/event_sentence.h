#ifndef DISPATCH_EVENT_SENTENCE_H
#define DISPATCH_EVENT_SENTENCE_H

#include "base/arena.h"
#include "base/json/value.h"
#include "base/strview.h"

/*
 * An event in one line of plain English, for people: what happened to which application, with
 * quantities in their units ("2 h 5 min", "1,200"). data is borrowed; members that are missing or of
 * another kind are left out, those that are not known are ignored, and so is NULL. In the arena;
 * NULL: no memory.
 */
const char *event_sentence(struct arena *arena, struct strview type, const struct json_value *data);

#endif
