#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text that was cut, here or by the caller, may end within a character of UTF-8: what there is of
 * it goes. */
static void drop_half_character(char *text)
{
    size_t n = strlen(text);
    size_t rest = 0;
    while (rest < n && rest < 3 && ((unsigned char)text[n - 1 - rest] & 0xC0) == 0x80)
        rest++;
    if (rest == n)
        return;
    unsigned char first = (unsigned char)text[n - 1 - rest];
    size_t wanted = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    if (rest < wanted)
        text[n - 1 - rest] = '\0';
}

PV_PRINTF(3, 0)
static void print_text(char *text, size_t size, const char *format, va_list args)
{
    (void)vsnprintf(text, size, format, args);
    drop_half_character(text);
}

void pv_error_clear(struct pv_error *err)
{
    if (err == NULL)
        return;
    memset(err, 0, sizeof *err);
}

void pv_error_set_limit(
    struct pv_error *err, const char *limit, const char *unit, int64_t most, unsigned retry_after_s)
{
    if (err == NULL)
        return;
    (void)snprintf(err->limit, sizeof err->limit, "%s", limit);
    (void)snprintf(err->limit_unit, sizeof err->limit_unit, "%s", unit);
    err->limit_most = most;
    err->retry_after_s = retry_after_s;
}

enum pv_code(pv_fail)(struct pv_error *err, enum pv_code code, const char *format, ...)
{
    if (err == NULL || err->code != PV_OK)
        return code;
    err->code = code;
    va_list args;
    va_start(args, format);
    print_text(err->detail, sizeof err->detail, format, args);
    va_end(args);
    return code;
}

enum pv_code(pv_no_memory)(struct pv_error *err)
{
    return pv_fail(err, PV_E_MEMORY, "%s", pv_code_text(PV_E_MEMORY));
}

enum pv_code(pv_fault)(struct pv_error *err,
                       enum pv_place place,
                       const char *at,
                       const char *code,
                       const char *format,
                       ...)
{
    if (err == NULL)
        return PV_E_INVALID;
    if (err->code == PV_OK)
        err->code = PV_E_INVALID;
    if (err->n_faults < PV_FAULTS_MAX) {
        struct pv_fault *f = &err->faults[err->n_faults];
        f->place = place;
        (void)snprintf(f->at, sizeof f->at, "%s", at);
        drop_half_character(f->at);
        (void)snprintf(f->code, sizeof f->code, "%s", code);
        va_list args;
        va_start(args, format);
        print_text(f->detail, sizeof f->detail, format, args);
        va_end(args);
    }
    err->n_faults++;
    return err->code;
}
