#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* What libFuzzer and replay_main.c call. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* An invariant that must hold for any input; aborting is what the fuzzer takes for a finding. */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

#endif
