#include "evidence.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int status;

void evidence_begin(const char *table)
{
    printf("<!-- computed: %s -->\n\n", table);
}

void evidence_end(void)
{
    printf("\n<!-- end -->\n");
}

void evidence_expect(bool holds, const char *format, ...)
{
    va_list arguments;
    printf("%s ", holds ? "ok" : "NOT SO");
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    if (!holds)
        status = 1;
}

void *evidence_need(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

int evidence_status(void)
{
    return status;
}
