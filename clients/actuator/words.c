#include "actuator/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/failure.h"

static bool quiet;

void words_be_quiet(void)
{
    quiet = true;
}

static void print_line(const char *before, const char *format, va_list arguments) PV_PRINTF(2, 0);

static void print_line(const char *before, const char *format, va_list arguments)
{
    char text[5000];
    (void)vsnprintf(text, sizeof text, format, arguments);
    fprintf(stderr, "provisor-actuate: %s", before);
    print_safely(stderr, text);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!quiet)
        print_line("", format, arguments);
    va_end(arguments);
}

void say_warning(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("warning: ", format, arguments);
    va_end(arguments);
}

bool words_are_same(const char *before, const char *now)
{
    static const char digits[] = "0123456789";
    while (*before != '\0' && *before == *now) {
        before += 1 + strspn(before + 1, digits);
        now += 1 + strspn(now + 1, digits);
    }
    return *before == '\0';
}
