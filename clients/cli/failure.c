#include "cli/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void print_safely_n(FILE *out, const char *text, size_t n)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = bytes[i];
        /* C1 in UTF-8: 0xc2 and a byte that is a control character by itself elsewhere */
        bool c1 = c == 0xc2 && i + 1 < n && bytes[i + 1] >= 0x80 && bytes[i + 1] < 0xa0;
        fputc((c < ' ' && c != '\n') || c == 0x7f || c1 ? ' ' : c, out);
        i += c1;
    }
}

void print_safely(FILE *out, const char *text)
{
    print_safely_n(out, text, strlen(text));
}

void warn(const char *format, ...)
{
    char text[5000];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("provisor: warning: ", stderr);
    print_safely(stderr, text);
    fputc('\n', stderr);
}

void failure_print(const struct failure *failure)
{
    if (failure->status == EXIT_DONE)
        return;
    fputs("provisor: ", stderr);
    print_safely(stderr, failure->what);
    if (failure->next[0] != '\0')
        fputs("\n          ", stderr);
    print_safely(stderr, failure->next);
    fputc('\n', stderr);
}
