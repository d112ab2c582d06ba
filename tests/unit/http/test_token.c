#include "http/token.h"

#include <criterion/criterion.h>
#include <sodium.h>
#include <string.h>

static const char id[37] = "0197c1de-1234-7abc-8def-0123456789ab";
static const unsigned char key[32] = "a key of the service, 32 bytes.";

static void set_up(void)
{
    cr_assert_geq(sodium_init(), 0);
}
TestSuite(token, .init = set_up, .timeout = 20);

Test(token, text_holds_id_and_secret_and_reads_back)
{
    unsigned char secret[TOKEN_SECRET];
    unsigned char read[TOKEN_SECRET];
    char text[TOKEN_TEXT];
    char read_id[37];
    token_make(id, secret, text);
    cr_assert_eq(strlen(text), TOKEN_TEXT - 1);
    cr_assert_eq(strncmp(text, "prv_0197c1de12347abc8def0123456789ab_", 37), 0, "%s", text);
    cr_assert(token_parse(text, read_id, read));
    cr_assert_str_eq(read_id, id);
    cr_assert_eq(memcmp(secret, read, sizeof secret), 0);
}

Test(token, two_tokens_differ)
{
    unsigned char secret[TOKEN_SECRET];
    char a[TOKEN_TEXT];
    char b[TOKEN_TEXT];
    token_make(id, secret, a);
    token_make(id, secret, b);
    cr_assert_neq(strcmp(a, b), 0);
}

Test(token, any_changed_or_missing_character_is_noticed)
{
    unsigned char secret[TOKEN_SECRET];
    char text[TOKEN_TEXT];
    char read_id[37];
    token_make(id, secret, text);
    for (size_t i = 0; text[i] != '\0'; i++) {
        char was = text[i];
        text[i] = was == '0' ? '1' : '0';
        cr_expect_not(token_parse(text, read_id, secret), "at %zu", i);
        text[i] = was == 'z' ? '\0' : 'Z';
        cr_expect_not(token_parse(text, read_id, secret), "at %zu", i);
        text[i] = '\0';
        cr_expect_not(token_parse(text, read_id, secret), "cut at %zu", i);
        text[i] = was;
    }
    cr_assert(token_parse(text, read_id, secret));
    cr_assert_not(token_parse("", read_id, secret));
}

Test(token, hash_depends_on_key_id_and_secret)
{
    unsigned char secret[TOKEN_SECRET] = {1};
    unsigned char other[TOKEN_SECRET] = {2};
    unsigned char hash[TOKEN_HASH];
    const unsigned char other_key[32] = {7};
    const char other_id[37] = "0197c1de-1234-7abc-8def-0123456789ac";
    token_hash(key, id, secret, hash);
    cr_assert(token_matches(key, id, secret, hash));
    cr_assert_not(token_matches(key, id, other, hash));
    cr_assert_not(token_matches(key, other_id, secret, hash));
    cr_assert_not(token_matches(other_key, id, secret, hash));
    hash[31] ^= 1;
    cr_assert_not(token_matches(key, id, secret, hash));
}
