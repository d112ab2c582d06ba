/*
 * Any bytes as a page of S3, or as its error: a fault that is said, or objects that all have a key.
 */
#include "cli/sources/s3_page.h"

#include <string.h>

#include "fuzz.h"

static void read_page(struct arena *arena, const char *text, size_t n)
{
    struct s3_page page;
    const char *fault = NULL;
    bool parsed = s3_page_parse(arena, text, n, &page, &fault);
    FUZZ_REQUIRE(parsed == (fault == NULL));
    for (size_t i = 0; parsed && i < page.entries.n; i++) {
        const struct s3_entry *entry = &page.entries.items[i];
        FUZZ_REQUIRE(entry->key != NULL && strlen(entry->key) <= n);
        FUZZ_REQUIRE(entry->etag != NULL && entry->bytes >= -1);
    }
    FUZZ_REQUIRE(!parsed || page.next == NULL || page.next[0] != '\0');
}

static void read_error(struct arena *arena, const char *text, size_t n)
{
    struct s3_error error;
    bool parsed = s3_error_parse(arena, text, n, &error);
    FUZZ_REQUIRE(error.code != NULL && error.message != NULL && error.region != NULL);
    FUZZ_REQUIRE(parsed == (error.code[0] != '\0'));
    for (const char *c = error.message; *c != '\0'; c++)
        FUZZ_REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena arena;
    arena_init(&arena, 0);
    read_page(&arena, (const char *)data, n);
    read_error(&arena, (const char *)data, n);
    arena_fini(&arena);
    return 0;
}
