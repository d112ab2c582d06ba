#ifndef CLI_OUTPUT_CELL_H
#define CLI_OUTPUT_CELL_H

#include <jansson.h>
#include <stddef.h>

/*
 * One value of a reply as people read it ("75.5 s"), and as programs do (75.45999). What is unknown
 * is "-" to the former and empty to the latter.
 */
enum cell_kind {
    CELL_TEXT,        /* whatever it is; lists joined by a comma, objects as key=value */
    CELL_COUNT,       /* a whole number */
    CELL_NUMBER,      /* up to four significant digits */
    CELL_SECONDS,     /* a duration */
    CELL_SLACK,       /* a duration that is left; below 0 "late by 12 s" */
    CELL_SHARE,       /* 0 to 1, as percent */
    CELL_PROBABILITY, /* the same; never 0 % nor 100 % */
    CELL_PERCENT,     /* already in percent */
    CELL_BELOW,       /* in percent below another figure; below 0 "4.7 % above" */
    CELL_BYTES,
    CELL_SIZE,         /* a problem size, "50.5 GiB"; its measure is the member PATH_measure */
    CELL_SIZE_IN_FULL, /* "50.5 GiB in 404 blocks" */
    CELL_INSTANT,      /* RFC 3339; to people without the T and fractions, in UTC */
    CELL_MINUTE,       /* the same; to people without seconds */
    CELL_YES,          /* true or false */
    CELL_ID,           /* text that is of no use when it is shortened */
    CELL_NAME,         /* what the next command takes; never shortened, as ids are */
    CELL_WORD,         /* a word of the service; to people with blanks for underscores */
    CELL_VERDICT       /* what became of the item, a word or true or false; never left out */
};

enum { CELL_TEXT_MAX = 1024, CELL_DIGITS = 4 /* of a number in a table */ };

/* value may be NULL. */
void cell_for_people(const json_t *value, enum cell_kind kind, char out[CELL_TEXT_MAX]);
/* A member of an object, by its path. */
void cell_of_member(const json_t *item,
                    const char *path,
                    enum cell_kind kind,
                    char out[CELL_TEXT_MAX]);
/* A list or an object is empty. */
void cell_for_programs(const json_t *value, char out[CELL_TEXT_MAX]);

#endif
