#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pv_error_clear(struct pv_error *err)
{
    if (err == NULL)
        return;
    memset(err, 0, sizeof *err);
}

enum pv_code pv_fail(struct pv_error *err, enum pv_code code, const char *format, ...)
{
    if (err == NULL || err->code != PV_OK)
        return code;
    err->code = code;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->detail, sizeof err->detail, format, args);
    va_end(args);
    return code;
}

enum pv_code pv_fault(struct pv_error *err,
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
        (void)snprintf(f->code, sizeof f->code, "%s", code);
        va_list args;
        va_start(args, format);
        (void)vsnprintf(f->detail, sizeof f->detail, format, args);
        va_end(args);
    }
    err->n_faults++;
    return err->code;
}
