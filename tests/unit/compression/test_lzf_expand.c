/* Codes written by hand, each in memory of exactly its size: a sanitizer sees the first byte
 * beyond. */
#include "compression/lzf_expand.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static bool expands(const char *code, size_t n_code, const char *want, size_t n_want)
{
    unsigned char *in = malloc(n_code > 0 ? n_code : 1);
    unsigned char *out = malloc(n_want > 0 ? n_want : 1);
    cr_assert(in != NULL && out != NULL);
    memcpy(in, code, n_code);
    bool whole = lzf_expand(in, n_code, out, n_want);
    bool same = whole && (want == NULL || memcmp(out, want, n_want) == 0);
    free(in);
    free(out);
    cr_assert(whole == same);
    return same;
}

Test(lzf_expand, takes_runs_and_repetitions)
{
    cr_assert(expands("", 0, "", 0));
    cr_assert(expands("\0a", 2, "a", 1));
    cr_assert(expands("\2abc", 4, "abc", 3));
    /* 3 bytes from 3 back; 4 from 1 back, which repeats one byte */
    cr_assert(expands("\2abc\x20\2", 6, "abcabc", 6));
    cr_assert(expands("\0a\x40\0", 4, "aaaaa", 5));
    /* 7 + 2 + 1: a length of its own byte */
    cr_assert(expands("\1ab\xe0\1\1", 6, "abababababab", 12));
}

Test(lzf_expand, takes_the_farthest_and_the_longest)
{
    /* 8192 bytes in runs of 32, then 264 from 8192 back */
    static char code[33 * 256 + 3];
    static char want[8192 + 264];
    for (size_t i = 0; i < 8192; i++)
        want[i] = (char)(i * 7 + i / 256);
    memcpy(want + 8192, want, 264);
    for (size_t run = 0; run < 256; run++) {
        code[33 * run] = 31;
        memcpy(code + 33 * run + 1, want + 32 * run, 32);
    }
    memcpy(code + sizeof code - 3, "\xff\xff\xff", 3);
    cr_assert(expands(code, sizeof code, want, sizeof want));
    /* one byte farther than there is */
    memmove(code + 33 * 255, code + 33 * 256, 3);
    cr_assert_not(expands(code, 33 * 255 + 3, NULL, 32 * 255 + 264));
}

Test(lzf_expand, repeats_at_any_distance)
{
    for (size_t distance = 1; distance <= 32; distance++)
        for (size_t n = 9; n <= 264; n++) {
            char code[36];
            char want[32 + 264];
            for (size_t i = 0; i < 32; i++)
                want[i] = (char)('A' + i);
            for (size_t i = 32; i < 32 + n; i++)
                want[i] = want[i - distance];
            code[0] = 31;
            memcpy(code + 1, want, 32);
            code[33] = '\xe0';
            code[34] = (char)(n - 9);
            code[35] = (char)(distance - 1);
            cr_assert(expands(code, 36, want, 32 + n), "%zu from %zu back", n, distance);
            cr_assert_not(expands(code, 36, NULL, 32 + n - 1));
            cr_assert_not(expands(code, 36, NULL, 32 + n + 1));
        }
}

Test(lzf_expand, refuses_what_ends_early_or_reaches_out)
{
    static const struct {
        const char *code;
        size_t n;
        size_t n_out;
    } rows[] = {
        {"\2ab", 3, 3},       /* a run cut short */
        {"\2abc", 4, 2},      /* more than was announced */
        {"\2abc", 4, 4},      /* less */
        {"", 0, 1},           /* nothing */
        {"\x20\0", 2, 3},     /* a repetition of nothing */
        {"\0a\x20\1", 4, 4},  /* from before the beginning */
        {"\0a\x20", 3, 4},    /* no distance */
        {"\0a\xe0", 3, 12},   /* no length */
        {"\0a\xe0\1", 4, 12}, /* a length but no distance */
        {"\0a\x20\0", 4, 3},  /* a repetition beyond the end */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_not(expands(rows[i].code, rows[i].n, NULL, rows[i].n_out), "row %zu", i);
}
