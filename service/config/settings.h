#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

/*
 * The table of settings (settings.c). A new setting is a member of struct config and a row there;
 * file, environment, command line, --help and docs/configuration.md follow from the row.
 */
enum setting_kind { SETTING_INTEGER, SETTING_BOOLEAN, SETTING_TEXT, SETTING_WORD };

struct setting {
    const char *name;
    enum setting_kind kind;
    size_t offset;    /* of the member in struct config */
    size_t size;      /* texts: of the member, with its NUL */
    const char *unit; /* "" for none */
    int64_t low;      /* integers: inclusive range */
    int64_t high;
    const char *const *words; /* SETTING_WORD: what it may be, ended by NULL */
    bool secret; /* never shown; may be read from the file that PROVISOR_<NAME>_FILE names */
    const char *fallback; /* default, as text */
    const char *help;
};

extern const struct setting settings[];
extern const size_t settings_n;

/* NULL when there is none. Dashes count as underscores. */
const struct setting *setting_find(const char *name, size_t n);

/* Check `text` and put it into config. where: "file x line 3", for the message. */
enum pv_code setting_assign(const struct setting *setting,
                            const char *text,
                            const char *where,
                            struct config *config,
                            struct pv_error *err) PV_MUSTCHECK;

/* "PROVISOR_LISTEN_PORT" plus suffix; out has room for SETTING_VARIABLE bytes. */
enum { SETTING_VARIABLE = 64 };
void setting_variable(const struct setting *setting, const char *suffix, char *out);

#endif
