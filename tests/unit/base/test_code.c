/* The table of codes: every code has a name and a text, and no two share a name. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/code.h"

Test(code, every_code_has_a_name_and_a_text, .timeout = 10)
{
    for (int code = PV_OK; code < PV_CODE_COUNT; code++) {
        const char *name = pv_code_name((enum pv_code)code);
        cr_assert_not_null(name);
        cr_assert_gt(strlen(name), 1, "code %d has no name", code);
        cr_assert_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name), "%s", name);
        const char *text = pv_code_text((enum pv_code)code);
        cr_assert_not_null(text);
        cr_assert_gt(strlen(text), 3, "%s has no text", name);
    }
}

Test(code, names_are_not_shared, .timeout = 10)
{
    for (int a = PV_OK; a < PV_CODE_COUNT; a++)
        for (int b = PV_OK; b < a; b++)
            cr_assert_str_neq(pv_code_name((enum pv_code)a), pv_code_name((enum pv_code)b));
}

Test(code, a_value_outside_the_table_still_has_words, .timeout = 10)
{
    cr_assert_gt(strlen(pv_code_name((enum pv_code)PV_CODE_COUNT)), 1);
    cr_assert_gt(strlen(pv_code_text((enum pv_code) - 1)), 3);
}
