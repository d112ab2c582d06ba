#include "compression/crc32c.h"

static const uint32_t POLYNOMIAL = 0x82f63b78;

static uint32_t of_byte(uint32_t byte)
{
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++)
        crc = (crc & 1) != 0 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
    return crc;
}

void crc32c_init(struct crc32c *tables)
{
    for (uint32_t byte = 0; byte < 256; byte++)
        tables->at[0][byte] = of_byte(byte);
    for (size_t k = 1; k < 8; k++)
        for (size_t byte = 0; byte < 256; byte++) {
            uint32_t before = tables->at[k - 1][byte];
            tables->at[k][byte] = before >> 8 ^ tables->at[0][before & 0xff];
        }
}

uint32_t crc32c(const struct crc32c *tables, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint32_t crc = UINT32_MAX;
    for (; n >= 8; n -= 8, at += 8) {
        crc = tables->at[7][(crc ^ at[0]) & 0xff] ^ tables->at[6][(crc >> 8 ^ at[1]) & 0xff] ^
              tables->at[5][(crc >> 16 ^ at[2]) & 0xff] ^
              tables->at[4][(crc >> 24 ^ at[3]) & 0xff] ^ tables->at[3][at[4]] ^
              tables->at[2][at[5]] ^ tables->at[1][at[6]] ^ tables->at[0][at[7]];
    }
    for (; n > 0; n--, at++)
        crc = crc >> 8 ^ tables->at[0][(crc ^ *at) & 0xff];
    return ~crc;
}

uint32_t crc32c_mask(uint32_t checksum)
{
    return (checksum >> 15 | checksum << 17) + UINT32_C(0xa282ead8);
}
