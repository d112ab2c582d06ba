#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/nearest.h"

TestSuite(nearest, .timeout = 20);

static const char *nearest_of(const char *asked)
{
    static const char *const words[] = {"application", "confidence",    "deadline_s",   "labels",
                                        "objective",   "max_executors", "min_executors"};
    struct nearest nearest = {.word = NULL};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        nearest_try(&nearest, asked, words[i]);
    return nearest.word == NULL ? "" : nearest.word;
}

Test(nearest, mistyped_words)
{
    cr_assert_str_eq(nearest_of("deadline"), "deadline_s");
    cr_assert_str_eq(nearest_of("maxExecutors"), "max_executors");
    cr_assert_str_eq(nearest_of("MIN-EXECUTORS"), "min_executors");
    cr_assert_str_eq(nearest_of("aplication"), "application");
    cr_assert_str_eq(nearest_of("lables"), "labels");
    cr_assert_str_eq(nearest_of("objetcive"), "objective");
    cr_assert_str_eq(nearest_of("budget"), "");
    cr_assert_str_eq(nearest_of(""), "");
    cr_assert_str_eq(nearest_of("_"), "");
    char text[200];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    cr_assert_str_eq(nearest_of(text), "");
    text[NEAREST_LENGTH_MAX] = '\0';
    struct nearest nearest = {.word = NULL};
    nearest_try(&nearest, text, text);
    cr_assert_eq(nearest.edits, 0);
    cr_assert_not_null(nearest.word);
}

/* A long ending that both share makes no likeness. */
Test(nearest, only_the_ending_is_alike)
{
    struct nearest nearest = {.word = NULL};
    nearest_try(&nearest, "memory_bytes_per_executor", "cores_per_executor");
    cr_assert_null(nearest.word);
    nearest_try(&nearest, "core_per_executors", "cores_per_executor");
    cr_assert_not_null(nearest.word);
}

/* Each of these is one edit from "abcdef", and the distance is the same both ways. */
Test(nearest, edits)
{
    static const char *const once[] = {"abcde", "abcdefg", "abcxef", "abdcef", "xabcdef"};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        struct nearest to = {.word = NULL}, from = {.word = NULL};
        nearest_try(&to, "abcdef", once[i]);
        nearest_try(&from, once[i], "abcdef");
        cr_assert(to.edits == 1 && from.edits == 1, "%s", once[i]);
    }
}
