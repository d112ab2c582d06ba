#ifndef FUZZ_FUZZ_BODY_H
#define FUZZ_FUZZ_BODY_H

#include <stdbool.h>

#include "codec/json/reader.h"
#include "fuzz.h"

/*
 * Targets that take any bytes as the JSON body of a request link fuzz_body.c, which parses them,
 * and write this function: decode, ask fuzz_body_is_taken, and look at what came out.
 * top->reader->arena is for whatever is needed; it goes afterwards.
 */
void fuzz_body(const struct codec_node *top);

/* Was all of it taken? A body that is refused says where it is wrong. */
bool fuzz_body_is_taken(const struct codec_node *top);

#endif
