#include "cli/failure.h"

#include <stdarg.h>
#include <stdio.h>

bool fail(struct failure *failure, enum exit_status status, const char *format, ...)
{
    if (failure == NULL || failure->status != EXIT_DONE)
        return false;
    failure->status = status;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(failure->what, sizeof failure->what, format, arguments);
    va_end(arguments);
    return false;
}

bool fail_next(struct failure *failure, const char *format, ...)
{
    if (failure == NULL || failure->next[0] != '\0')
        return false;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(failure->next, sizeof failure->next, format, arguments);
    va_end(arguments);
    return false;
}

bool fail_memory(struct failure *failure)
{
    return fail(failure, EXIT_FAILED, "out of memory");
}

void failure_print(const struct failure *failure)
{
    if (failure->status == EXIT_DONE)
        return;
    fprintf(stderr, "provisor: %s\n", failure->what);
    if (failure->next[0] != '\0')
        fprintf(stderr, "          %s\n", failure->next);
}
