#include "core/scaling/model/fit_types.h"

#include <stdarg.h>
#include <stdio.h>

void model_warn(struct model_fit *fit, size_t count, const char *code, const char *format, ...)
{
    if (fit->n_warnings == MODEL_WARNINGS_MAX)
        return;
    struct model_warning *warning = &fit->warnings[fit->n_warnings++];
    warning->count = count;
    (void)snprintf(warning->code, sizeof warning->code, "%s", code);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(warning->message, sizeof warning->message, format, args);
    va_end(args);
}
