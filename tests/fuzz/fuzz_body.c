#include "fuzz_body.h"

static const struct codec_bounds bounds = {.depth = 16, .values = 1000000};

bool fuzz_body_is_taken(const struct codec_node *top)
{
    bool taken = codec_result(top->reader) == PV_OK;
    FUZZ_REQUIRE(taken || top->reader->err->n_faults > 0);
    return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pv_error err = {0};
    struct arena arena;
    arena_init(&arena, 0);
    struct codec_document document;
    if (codec_open(&document, (const char *)data, n, &bounds, &arena, &err) == PV_OK) {
        fuzz_body(&document.top);
        FUZZ_REQUIRE(codec_close(&document) == err.code);
    } else {
        FUZZ_REQUIRE(err.detail[0] != '\0' || err.n_faults > 0);
    }
    arena_fini(&arena);
    return 0;
}
