#include "cli/sources/s3_page.h"

#include <criterion/criterion.h>

#include "base/instant.h"

static struct arena arena;
static struct s3_page page;
static const char *fault;

static void begin(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(s3_page, .init = begin, .fini = end);

static bool parse(const char *text)
{
    return s3_page_parse(&arena, text, strlen(text), &page, &fault);
}

static const char first[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
    "<Prefix></Prefix><NextContinuationToken>t+/=</NextContinuationToken><KeyCount>2</KeyCount>"
    "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
    "<Contents><Key>a%2Fb+c%2B%C3%A9</Key><LastModified>2026-01-05T10:00:00.000Z</LastModified>"
    "<ETag>&quot;0123&quot;</ETag><Size>5368709121</Size><StorageClass>STANDARD</StorageClass>"
    "<Owner><ID>x</ID><Key>not this</Key></Owner></Contents>"
    "<Contents><Key>b</Key><ETag>0123-2</ETag><Size>0</Size></Contents>"
    "<CommonPrefixes><Prefix>p</Prefix></CommonPrefixes></ListBucketResult>";

Test(s3_page, objects_and_the_token_of_the_next_page)
{
    cr_assert(parse(first), "%s", fault);
    cr_assert_eq(page.entries.n, 2u);
    const struct s3_entry *e = page.entries.items;
    cr_assert_str_eq(e[0].key, "a/b c+\xc3\xa9");
    cr_assert_str_eq(e[0].etag, "0123");
    cr_assert_eq(e[0].bytes, 5368709121);
    int64_t modified_us = 0;
    cr_assert(instant_parse("2026-01-05T10:00:00Z", &modified_us));
    cr_assert_eq(e[0].modified_us, modified_us);
    cr_assert_str_eq(e[1].key, "b");
    cr_assert_str_eq(e[1].etag, "0123-2");
    cr_assert_eq(e[1].bytes, 0);
    cr_assert_eq(e[1].modified_us, INSTANT_UNKNOWN);
    cr_assert_str_eq(page.next, "t+/=");
}

Test(s3_page, keys_that_are_not_encoded_stay_as_they_are)
{
    cr_assert(parse("<ListBucketResult><Contents><Key>a%2Fb+c&amp;&lt;</Key></Contents>"
                    "<NextContinuationToken>left over</NextContinuationToken>"
                    "</ListBucketResult>"));
    cr_assert_str_eq(page.entries.items[0].key, "a%2Fb+c&<");
    cr_assert_str_eq(page.entries.items[0].etag, "");
    cr_assert_eq(page.entries.items[0].bytes, -1);
    cr_assert_null(page.next, "the last page has no next, whatever it says");
    cr_assert(parse("<ListBucketResult/>"));
    cr_assert_eq(page.entries.n, 0u);
}

Test(s3_page, a_page_that_is_cut_anywhere_is_none)
{
    for (size_t n = 0; n < sizeof first - 1; n++) {
        cr_assert_not(s3_page_parse(&arena, first, n, &page, &fault), "%zu bytes", n);
        cr_assert_not_null(fault);
        arena_clear(&arena);
    }
}

#define LIST(members) "<ListBucketResult>" members "</ListBucketResult>"
#define OBJECT(members) LIST("<Contents>" members "</Contents>")
#define ENCODED(key) LIST("<EncodingType>url</EncodingType><Contents><Key>" key "</Key></Contents>")

Test(s3_page, what_is_no_page)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "<html><body>ListBucketResult</body></html>",
        "<Error><Code>x</Code></Error>",
        "<x><ListBucketResult/></x>",
        "<ListBucketResult/><ListBucketResult/>",
        OBJECT("<Size>1</Size>"),
        OBJECT("<Key>k</Key><Size>-1</Size>"),
        OBJECT("<Key>k</Key><Size>1x</Size>"),
        OBJECT("<Key>k</Key><Size>99999999999999999999</Size>"),
        LIST("<IsTruncated>true</IsTruncated>"),
        ENCODED("%zz"),
        ENCODED("%00"),
        "<!DOCTYPE x><ListBucketResult/>",
        "<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult>&a;</ListBucketResult>",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_not(parse(wrong[i]), "%s", wrong[i]);
        cr_assert_not_null(fault, "%s", wrong[i]);
    }
}

Test(s3_page, errors)
{
    static const char text[] =
        "<Error><Code>AuthorizationHeaderMalformed</Code><Message>The region\nis wrong</Message>"
        "<Region>eu-west-1</Region><RequestId>4</RequestId></Error>";
    struct s3_error error;
    cr_assert(s3_error_parse(&arena, text, sizeof text - 1, &error));
    cr_assert_str_eq(error.code, "AuthorizationHeaderMalformed");
    cr_assert_str_eq(error.message, "The region?is wrong");
    cr_assert_str_eq(error.region, "eu-west-1");
    static const char *const no[] = {"", "<html/>", "<Error/>", "<Error><Code>x</Code>"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        cr_assert_not(s3_error_parse(&arena, no[i], strlen(no[i]), &error), "%s", no[i]);
        cr_assert_str_eq(error.code, "");
    }
}
