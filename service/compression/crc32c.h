#ifndef COMPRESSION_CRC32C_H
#define COMPRESSION_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), eight bytes a step by tables. No library
 * we link offers it. Values of the tables: at[k][b] is the checksum of byte b followed by k zeros.
 */
struct crc32c {
    uint32_t at[8][256];
};

void crc32c_init(struct crc32c *tables);
uint32_t crc32c(const struct crc32c *tables, const void *bytes, size_t n);

/* As the Snappy framing format stores it: rotated and shifted, so that a checksum of data that
 * holds its own checksum is no special case. */
uint32_t crc32c_mask(uint32_t checksum);

#endif
