#include <criterion/criterion.h>
#include <string.h>

#include "base/fault_text.h"

static const char *place(enum pv_place kind, const char *at)
{
    static char name[FAULT_NAME_MAX];
    fault_name_place(kind, at, name);
    return name;
}

static const char *sentence(const char *name, const char *text)
{
    static char out[FAULT_SENTENCE_MAX];
    fault_write_sentence(name, text, out, sizeof out);
    return out;
}

Test(fault_text, places_are_named_as_people_write_them)
{
    cr_expect_str_eq(place(PV_PLACE_POINTER, "/cores"), "cores");
    cr_expect_str_eq(place(PV_PLACE_POINTER, "/items/1/constraints/max_cost"),
                     "items[1].constraints.max_cost");
    cr_expect_str_eq(place(PV_PLACE_POINTER, "/0/1"), "[0][1]");
    cr_expect_str_eq(place(PV_PLACE_POINTER, "/labels/a~1b~0c"), "labels.a/b~c");
    cr_expect_str_eq(place(PV_PLACE_POINTER, "/labels/"), "labels.");
    cr_expect_str_eq(place(PV_PLACE_POINTER, ""), "the body");
    cr_expect_str_eq(place(PV_PLACE_PARAMETER, "limit"), "limit");
    cr_expect_str_eq(place(PV_PLACE_HEADER, "Idempotency-Key"), "Idempotency-Key");
}

Test(fault_text, a_long_place_is_cut)
{
    char at[2 * FAULT_NAME_MAX];
    memset(at, 'x', sizeof at - 1);
    at[0] = '/';
    at[sizeof at - 1] = '\0';
    cr_expect_eq(strlen(place(PV_PLACE_POINTER, at)), FAULT_NAME_MAX - 1);
}

Test(fault_text, a_verb_follows_its_subject_and_other_texts_a_colon)
{
    cr_expect_str_eq(sentence("cores", "is required"), "cores is required");
    cr_expect_str_eq(sentence("the body", "must be an object"), "the body must be an object");
    cr_expect_str_eq(sentence("cluster", "there is no cluster \"a\""), "there is no cluster \"a\"");
    cr_expect_str_eq(sentence("items[1].cluster", "there is no cluster \"a\""),
                     "items[1].cluster: there is no cluster \"a\"");
    cr_expect_str_eq(sentence("x", "isolated"), "x: isolated");
}
