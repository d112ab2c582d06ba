#ifndef CORE_HISTORY_NAME_TOKEN_H
#define CORE_HISTORY_NAME_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strview.h"

/* The tokens of a name pattern and what each may stand for. */
enum name_token {
    NAME_TOKEN_TEXT, /* as it is */
    NAME_TOKEN_NAME,
    NAME_TOKEN_REST,
    NAME_TOKEN_ANY,
    NAME_TOKEN_DATE,
    NAME_TOKEN_TIME,
    NAME_TOKEN_EPOCH,
    NAME_TOKEN_UUID,
    NAME_TOKEN_HEX,
    NAME_TOKEN_NUMBER,
    NAME_TOKEN_WORD,
    NAME_TOKEN_SEP,
    NAME_TOKEN_HOUR,
    NAME_TOKEN_MONTH,
    NAME_TOKEN_PERIOD,  /* an ISO week or a day of it, a quarter */
    NAME_TOKEN_TRIGGER, /* how Airflow calls what started a run */
    NAME_TOKEN_POD,     /* what Kubernetes and Argo add to generated names */
    NAME_TOKEN_EMR,     /* a step or cluster of EMR */
    NAME_TOKEN_COUNT
};

/* NAME_TOKEN_COUNT where there is no token of that word. */
enum name_token name_token_of(struct strview word);

/* Takes any characters: two of them side by side could be split anywhere. */
bool name_token_is_open(enum name_token token);

/* May the token stand for the whole of this text (not empty)? Not for NAME_TOKEN_TEXT. */
bool name_token_matches(enum name_token token, struct strview text);

/*
 * No beginning of the text that is longer than this matches, nor any shorter than *least; *sure:
 * all between do, and need not be asked about one by one.
 */
size_t name_token_reach(enum name_token token, struct strview text, size_t *least, bool *sure);

/* Any number of characters, or of one kind of them. */
bool name_token_is_endless(enum name_token token);

#endif
