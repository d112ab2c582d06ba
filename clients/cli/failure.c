#include "cli/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/unseen_character.h"

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

/* Programs read names as they are. */
static bool is_read_by_people(FILE *out)
{
    return out == stderr || isatty(fileno(out)) == 1;
}

void print_safely_n(FILE *out, const char *text, size_t n)
{
    unsigned code;
    for (size_t i = 0, unseen; i<n; i += unseen> 0 ? unseen : 1) {
        unseen = unseen_character((struct strview){text + i, n - i}, &code);
        if (unseen > 1 && (code < 0xa0 || is_read_by_people(out)))
            fprintf(out, "\\u%04x", code);
        else if (unseen > 1)
            (void)fwrite(text + i, 1, unseen, out);
        else
            fputc(unseen == 1 && code != '\n' ? ' ' : text[i], out);
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
