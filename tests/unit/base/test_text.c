/* Small texts: UTF-8, UUIDs, names and texts of codes, errors. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/strview.h"
#include "base/uuid.h"

Test(strview, valid_utf8)
{
    static const char *const good[] = {"",
                                       "abc",
                                       "\xc3\xa9",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x98\x80",
                                       "\xed\x9f\xbf",
                                       "\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_assert(strview_is_utf8(strview_of(good[i])), "%zu", i);
}

Test(strview, invalid_utf8)
{
    /* lone continuation, cut sequence, overlong forms, surrogate, above U+10FFFF, bytes never used
     */
    static const char *const bad[] = {"\x80",
                                      "\xc3",
                                      "\xc0\x80",
                                      "\xe0\x80\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xff",
                                      "a\xe2\x82",
                                      "\xe2\x28\xa1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_not(strview_is_utf8(strview_of(bad[i])), "%zu", i);
}

Test(uuid, version_7_carries_its_time_in_order)
{
    const uint8_t random[10] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    char earlier[37];
    char later[37];
    uuid7_format(UINT64_C(0x0123456789ab), random, earlier);
    cr_assert_str_eq(earlier, "01234567-89ab-7fff-bfff-ffffffffffff");
    uuid7_format(UINT64_C(0x0123456789ac), (const uint8_t[10]){0}, later);
    cr_assert_lt(strcmp(earlier, later), 0);
}

Test(uuid, reading)
{
    char out[37];
    cr_assert(uuid_parse("01234567-89AB-7FFF-BFFF-FFFFFFFFFFFF", out));
    cr_assert_str_eq(out, "01234567-89ab-7fff-bfff-ffffffffffff");
    static const char *const wrong[] = {
        "", "01234567-89ab-7fff-bfff-fffffffffff", "01234567-89ab-7fff-bfff-ffffffffffff0",
        "0123456789ab-7fff-bfff-ffffffffffff0", "g1234567-89ab-7fff-bfff-ffffffffffff"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_not(uuid_parse(wrong[i], out), "%s", wrong[i]);
}

Test(code, every_code_has_its_own_name_and_a_text)
{
    for (int i = 0; i < PV_CODE_COUNT; i++) {
        cr_assert_gt(strlen(pv_code_name((enum pv_code)i)), 0u);
        cr_assert_gt(strlen(pv_code_text((enum pv_code)i)), 0u);
        for (int k = 0; k < i; k++)
            cr_assert_str_neq(pv_code_name((enum pv_code)i), pv_code_name((enum pv_code)k));
    }
    cr_assert_str_eq(pv_code_name((enum pv_code)PV_CODE_COUNT), "unknown");
}

Test(error, the_first_failure_wins)
{
    struct pv_error err = {0};
    cr_assert_eq(pv_fail(&err, PV_E_CONFLICT, "first %d", 1), PV_E_CONFLICT);
    cr_assert_eq(pv_fail(&err, PV_E_MEMORY, "second"), PV_E_MEMORY);
    cr_assert_eq(err.code, PV_E_CONFLICT);
    cr_assert_str_eq(err.detail, "first 1");
    cr_assert_eq(pv_fail(NULL, PV_E_MEMORY, "nobody listens"), PV_E_MEMORY);
}

Test(error, faults_are_kept_up_to_a_number_and_counted_beyond)
{
    struct pv_error err = {0};
    for (int i = 0; i < PV_FAULTS_MAX + 3; i++) {
        char at[16];
        (void)snprintf(at, sizeof at, "/%d", i);
        cr_assert_eq(pv_fault(&err, PV_PLACE_POINTER, at, "required", "is required"), PV_E_INVALID);
    }
    cr_assert_eq(err.n_faults, (size_t)PV_FAULTS_MAX + 3);
    cr_assert_str_eq(err.faults[0].at, "/0");
    cr_assert_str_eq(err.faults[PV_FAULTS_MAX - 1].at, "/7");
}

/* Whatever cut a text, a fault holds whole characters. */
Test(error, no_fault_ends_within_a_character)
{
    for (size_t before = 0; before < 2; before++) {
        struct pv_error err = {0};
        char text[600];
        size_t n = before;
        memset(text, 'a', sizeof text);
        while (n + 2 < sizeof text) {
            memcpy(text + n, "\u00e9", 2);
            n += 2;
        }
        text[n] = '\0';
        (void)pv_fault(&err, PV_PLACE_POINTER, text, "unknown_field", "%s", text);
        cr_expect(strview_is_utf8(strview_of(err.faults[0].at)));
        cr_expect(strview_is_utf8(strview_of(err.faults[0].detail)));
        cr_expect_geq(strlen(err.faults[0].at), sizeof err.faults[0].at - 2);
        text[180] = text[99] = '\0'; /* as callers cut, one of them within a character */
        (void)pv_fault(&err, PV_PLACE_POINTER, text, "not_fitted", "%s", text + 100 + before);
        cr_expect(strview_is_utf8(strview_of(err.faults[1].at)), "%zu", before);
        struct pv_error failed = {0};
        (void)pv_fail(&failed, PV_E_SYNTAX, "%.79s", text + 100 + before);
        cr_expect(strview_is_utf8(strview_of(failed.detail)), "%zu", before);
    }
}
