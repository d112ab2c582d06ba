#include "failing_malloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t n);
void __real_free(void *at);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t n);
void __wrap_free(void *at);
char *__wrap_strdup(const char *text);

/* Of this thread: others go on undisturbed. */
static _Thread_local long allowed = -1;
static _Thread_local bool counting;
static _Thread_local bool failed;
static _Thread_local long held; /* allocated and not given back while counting */

static bool fails(void)
{
    if (allowed < 0 || allowed-- > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t n)
{
    void *at = fails() ? NULL : __real_malloc(n);
    held += counting && at != NULL;
    return at;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *at = fails() ? NULL : __real_calloc(count, size);
    held += counting && at != NULL;
    return at;
}

void *__wrap_realloc(void *at, size_t n)
{
    void *moved = fails() ? NULL : __real_realloc(at, n);
    held += counting && at == NULL && moved != NULL;
    return moved;
}

void __wrap_free(void *at)
{
    held -= counting && at != NULL;
    __real_free(at);
}

char *__wrap_strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = __wrap_malloc(n);
    return copy == NULL ? NULL : memcpy(copy, text, n);
}

void failing_malloc_begin(long allocations)
{
    allowed = allocations;
    failed = false;
    held = 0;
    counting = true;
}

bool failing_malloc_end(void)
{
    allowed = -1;
    counting = false;
    return failed;
}

static char complaint[200];

const char *failing_malloc_complaint(void)
{
    return complaint;
}

long failing_malloc_run(enum pv_code (*work)(void *context),
                        void *context,
                        enum pv_code also,
                        long step)
{
    failing_malloc_begin(-1);
    enum pv_code whole = work(context);
    (void)failing_malloc_end();
    for (long k = 0;; k += step) {
        failing_malloc_begin(k);
        enum pv_code code = work(context);
        bool short_of_memory = failing_malloc_end();
        bool good = short_of_memory ? code == PV_E_MEMORY || code == also : code == whole;
        if (!good || held != 0) {
            (void)snprintf(complaint, sizeof complaint,
                           "allocation %ld %s: %s, with memory %s; %ld blocks left", k,
                           short_of_memory ? "failed" : "did not fail", pv_code_name(code),
                           pv_code_name(whole), held);
            return -1;
        }
        if (!short_of_memory)
            return k;
    }
}
