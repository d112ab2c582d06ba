#include "codec_memory.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

#include "failing_malloc.h"

enum { BODY_MAX = 1 << 16 };

void codec_memory_set_up(void)
{
    gsl_set_error_handler_off();
}

struct request {
    const char *text;
    size_t n;
    codec_memory_handler handle;
    const uint64_t *wanted; /* what `printed` must be; NULL: anything */
};

struct codec_memory_how codec_memory_how = {.step = 1};

static uint64_t printed; /* a hash of the last reply */

static enum pv_code answer(void *context)
{
    static const struct codec_bounds bounds = {.depth = 32, .values = 100000};
    const struct request *request = context;
    struct pv_error err = {0};
    struct codec_document document;
    struct arena arena;
    arena_init(&arena, 0);
    enum pv_code code = codec_open(&document, request->text, request->n, &bounds, &arena, &err);
    if (code == PV_OK) {
        code = request->handle(&document.top, &err);
        enum pv_code read = codec_close(&document);
        code = code != PV_OK ? code : read;
    }
    arena_fini(&arena);
    return code == PV_OK && request->wanted != NULL && *request->wanted != printed ? PV_E_INTERNAL
                                                                                   : code;
}

static long count(const char *name, const char *text, size_t n, codec_memory_handler handle)
{
    struct request request = {text, n, handle, NULL};
    enum pv_code whole = answer(&request);
    uint64_t wanted = printed;
    request.wanted = &wanted;
    long allocations = failing_malloc_run(
        answer, &request, whole == PV_OK && !codec_memory_how.may_do_without ? PV_E_MEMORY : whole,
        codec_memory_how.step);
    cr_expect_geq(allocations, 0, "%s: %s", name, failing_malloc_complaint());
    return allocations;
}

long codec_memory_one(const char *text, codec_memory_handler handle)
{
    struct request request = {text, strlen(text), handle, NULL};
    cr_expect_eq(answer(&request), PV_OK, "%s", text);
    return count(text, text, strlen(text), handle);
}

long codec_memory_faulty(const char *text, codec_memory_handler handle)
{
    struct request request = {text, strlen(text), handle, NULL};
    cr_expect_eq(answer(&request), PV_E_INVALID, "%s", text);
    return count(text, text, strlen(text), handle);
}

void codec_memory_seeds(const char *target, codec_memory_handler handle)
{
    char path[1024];
    static char text[BODY_MAX];
    size_t answered = 0;
    (void)snprintf(path, sizeof path, "%s/%s", CORPUS, target);
    DIR *folder = opendir(path);
    cr_assert_not_null(folder, "%s", path);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s/%s", CORPUS, target, entry->d_name);
        FILE *file = fopen(path, "rb");
        cr_assert_not_null(file, "%s", path);
        size_t n = fread(text, 1, sizeof text, file);
        (void)fclose(file);
        struct request request = {text, n, handle, NULL};
        answered += answer(&request) == PV_OK;
        cr_expect_gt(count(path, text, n, handle), 0);
    }
    (void)closedir(folder);
    cr_expect_gt(answered, 0, "%s", target);
}

enum pv_code codec_memory_finish(struct writer *w, struct pv_error *err)
{
    size_t n;
    const char *text = writer_finish(w, &n);
    if (text == NULL)
        return pv_no_memory(err);
    printed = 0;
    for (size_t i = 0; i < n; i++)
        printed = printed * 31 + (unsigned char)text[i];
    return PV_OK;
}
