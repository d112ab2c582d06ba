#include "compression/crc32c.h"

#include <criterion/criterion.h>
#include <string.h>

/* RFC 3720, appendix B.4, and the check value that catalogues of CRCs give for "123456789". */
Test(crc32c, gives_published_values)
{
    static struct crc32c tables;
    unsigned char bytes[32];
    crc32c_init(&tables);
    cr_assert_eq(crc32c(&tables, "123456789", 9), 0xe3069283);
    memset(bytes, 0, sizeof bytes);
    cr_assert_eq(crc32c(&tables, bytes, sizeof bytes), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    cr_assert_eq(crc32c(&tables, bytes, sizeof bytes), 0x62a8ab43);
    for (unsigned char i = 0; i < sizeof bytes; i++)
        bytes[i] = i;
    cr_assert_eq(crc32c(&tables, bytes, sizeof bytes), 0x46dd794e);
    cr_assert_eq(crc32c(&tables, "", 0), 0);
}

/* Rotated right by 15 and 0xa282ead8 added: of 1 and of 0, by hand. */
Test(crc32c, is_masked_for_storage)
{
    cr_assert_eq(crc32c_mask(0), 0xa282ead8);
    cr_assert_eq(crc32c_mask(1), 0xa284ead8);
}
