#include <stdlib.h>
#include <string.h>

#include "store/store_internal.h"

/*
 * Without these a server that vanishes without a word (power, a pulled cable, a failed-over
 * address) holds a thread for as long as TCP likes: 15 minutes and more. The connection string may
 * say otherwise.
 */
static const struct {
    const char *keyword;
    const char *value;
} defaults[] = {
    {"application_name", "provisord"}, {"client_encoding", "UTF8"}, {"connect_timeout", "3"},
    {"tcp_user_timeout", "10000"},     {"keepalives_idle", "10"},   {"keepalives_interval", "3"},
    {"keepalives_count", "3"},
};
enum { N_DEFAULTS = sizeof defaults / sizeof defaults[0] };

void conninfo_free(struct conninfo *parsed)
{
    for (size_t i = 0; parsed->keywords != NULL && parsed->keywords[i] != NULL; i++)
        free(parsed->keywords[i]);
    for (size_t i = 0; parsed->values != NULL && parsed->values[i] != NULL; i++)
        free(parsed->values[i]);
    free(parsed->keywords);
    free(parsed->values);
    *parsed = (struct conninfo){0};
}

static const char *default_of(const char *keyword)
{
    for (size_t i = 0; i < N_DEFAULTS; i++) {
        if (strcmp(defaults[i].keyword, keyword) == 0)
            return defaults[i].value;
    }
    return NULL;
}

static bool conninfo_add(struct conninfo *info, size_t *n, const char *keyword, const char *value)
{
    info->keywords[*n] = strdup(keyword);
    info->values[*n] = strdup(value);
    if (info->keywords[*n] == NULL || info->values[*n] == NULL)
        return false;
    (*n)++;
    return true;
}

/* libpq lists every keyword it knows, unset ones with val == NULL. */
static bool merge(const PQconninfoOption *options, struct conninfo *info)
{
    size_t known = 0;
    while (options[known].keyword != NULL)
        known++;
    info->keywords = calloc(known + 1, sizeof *info->keywords);
    info->values = calloc(known + 1, sizeof *info->values);
    if (info->keywords == NULL || info->values == NULL)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < known; i++) {
        const char *value = options[i].val;
        if (value == NULL || *value == '\0')
            value = default_of(options[i].keyword);
        if (value != NULL && !conninfo_add(info, &n, options[i].keyword, value))
            return false;
    }
    return true;
}

enum pv_code conninfo_parse(const char *text, struct conninfo *parsed, struct pv_error *err)
{
    PQconninfoOption *options = PQconninfoParse(text, NULL);
    if (options == NULL)
        return pv_fail(err, PV_E_INVALID, "the database connection string cannot be read");
    struct conninfo info = {0};
    bool done = merge(options, &info);
    PQconninfoFree(options);
    if (!done) {
        conninfo_free(&info);
        return pv_no_memory(err);
    }
    *parsed = info;
    return PV_OK;
}
