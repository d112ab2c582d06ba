#ifndef COMPRESSION_LZF_EXPAND_H
#define COMPRESSION_LZF_EXPAND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Decompress LZF. A first byte below 32 stands before that many bytes and one, to be taken as they
 * are; otherwise its upper three bits give a length (7: one more byte is added to it) and its lower
 * five with the next byte a distance, and length + 2 bytes are repeated from distance + 1 back.
 *
 * True when the n_in bytes give exactly n_out ones. Never reads or writes beyond either; what `out`
 * holds after a failure is undefined. out and in do not overlap.
 */
bool lzf_expand(const unsigned char *in, size_t n_in, unsigned char *out, size_t n_out);

#endif
