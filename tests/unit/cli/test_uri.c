#include "cli/sources/uri.h"

#include <criterion/criterion.h>

static struct arena arena;

static void begin(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(uri, .init = begin, .fini = end);

Test(uri, all_but_the_unreserved_is_encoded)
{
    cr_assert_str_eq(uri_encode_value(&arena, "AZaz09-._~"), "AZaz09-._~");
    cr_assert_str_eq(uri_encode_value(&arena, "a b+c/d"), "a%20b%2Bc%2Fd");
    cr_assert_str_eq(uri_encode_path(&arena, "/a b+c/d%41/../\xc3\xa9"),
                     "/a%20b%2Bc/d%2541/../%C3%A9");
    cr_assert_str_eq(uri_encode_value(&arena, ""), "");
}

Test(uri, what_is_decoded_is_what_was_encoded)
{
    char all[256];
    for (unsigned i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    all[255] = '\0';
    char *text = uri_encode_path(&arena, all);
    cr_assert(uri_decode(text, false));
    cr_assert_str_eq(text, all);
    text = uri_encode_value(&arena, all);
    cr_assert(uri_decode(text, true), "an encoded '+' is no space");
    cr_assert_str_eq(text, all);
}

Test(uri, a_plus_is_a_space_in_forms_only)
{
    char form[] = "a+b%2bc";
    cr_assert(uri_decode(form, true));
    cr_assert_str_eq(form, "a b+c");
    char path[] = "a+b%2bc";
    cr_assert(uri_decode(path, false));
    cr_assert_str_eq(path, "a+b+c");
}

Test(uri, what_was_never_encoded_is_not_decoded)
{
    static const char *const wrong[] = {"%", "%4", "a%zz", "a%4", "%4g", "x%00y", "%%41"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_not(uri_decode(arena_strdup(&arena, wrong[i]), true), "%s", wrong[i]);
}

Test(uri, a_terminal_is_not_acted_upon)
{
    char text[] = "a\x1b[2Jb\n\x7f\xc3\xa9";
    uri_printable(text);
    cr_assert_str_eq(text, "a?[2Jb??\xc3\xa9");
}

Test(uri, a_base_url_is_one_of_a_server)
{
    cr_assert(uri_is_base("http://h:1/") && uri_is_base("https://h/a/b//"));
    cr_assert_str_eq(uri_base(&arena, "http://h:1/"), "http://h:1");
    cr_assert_str_eq(uri_base(&arena, "https://h/a/b//"), "https://h/a/b");
    static const char *const no[] = {"",           "h:1",        "ftp://h",       "http://",
                                     "http:///x",  "http://a b", "http://u@h",    "http://h?x",
                                     "http://h#x", "HTTP:h",     "http://h\r\nX", "http://h\\@x"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        cr_assert_not(uri_is_base(no[i]), "%s", no[i]);
}
