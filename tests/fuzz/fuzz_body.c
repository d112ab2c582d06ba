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
    json_t *json = NULL;
    if (codec_parse((const char *)data, n, &bounds, &json, &err) != PV_OK) {
        FUZZ_REQUIRE(err.detail[0] != '\0' || err.n_faults > 0);
        return 0;
    }
    struct arena arena;
    arena_init(&arena, 0);
    struct codec_reader reader = {&arena, &err};
    const struct codec_node top = codec_top(&reader, json);
    fuzz_body(&top);
    json_decref(json);
    arena_fini(&arena);
    return 0;
}
