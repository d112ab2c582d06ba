#include "dispatch/signature.h"

#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>

static struct signing_secret parsed(const char *text)
{
    struct signing_secret secret;
    cr_assert(signing_secret_parse(strview_of(text), &secret), "%s", text);
    return secret;
}

/* The example that Standard Webhooks publishes. */
Test(signature, published_example)
{
    struct signing_secret secret = parsed("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    char header[SIGNATURE_TEXT];
    signature_make(&secret, 1, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
                   strview_of("{\"test\": 2432232314}"), header);
    cr_assert_str_eq(header, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

Test(signature, two_secrets_give_two)
{
    struct signing_secret secrets[2];
    char both[SIGNATURE_TEXT], first[SIGNATURE_TEXT], second[SIGNATURE_TEXT];
    char joined[2 * SIGNATURE_TEXT];
    signing_secret_make(&secrets[0]);
    signing_secret_make(&secrets[1]);
    signature_make(secrets, 2, "evt_1", 17, strview_of("{}"), both);
    signature_make(&secrets[0], 1, "evt_1", 17, strview_of("{}"), first);
    signature_make(&secrets[1], 1, "evt_1", 17, strview_of("{}"), second);
    (void)snprintf(joined, sizeof joined, "%s %s", first, second);
    cr_assert_str_eq(both, joined);
    cr_assert_str_neq(first, second);
}

Test(signature, of_a_key_pair_is_verified_by_its_public_half)
{
    struct signing_secret keys;
    unsigned char public_key[PUBLIC_KEY_BYTES], bytes[crypto_sign_BYTES];
    char header[SIGNATURE_TEXT], text[SECRET_TEXT];
    size_t n = 0;
    signing_keys_make(&keys);
    signing_public_key(&keys, public_key);
    signature_make(&keys, 1, "evt_1", 17, strview_of("{\"a\": 1}"), header);
    cr_assert(strncmp(header, "v1a,", 4) == 0, "%s", header);
    cr_assert_eq(sodium_base642bin(bytes, sizeof bytes, header + 4, strlen(header + 4), NULL, &n,
                                   NULL, sodium_base64_VARIANT_ORIGINAL),
                 0);
    const char *signed_text = "evt_1.17.{\"a\": 1}";
    cr_assert_eq(crypto_sign_verify_detached(bytes, (const unsigned char *)signed_text,
                                             strlen(signed_text), public_key),
                 0);
    public_key_text(public_key, text);
    cr_assert(strncmp(text, "whpk_", 5) == 0 && strlen(text) == 5 + 44);
}

Test(signature, two_key_pairs_fit_into_a_header)
{
    struct signing_secret keys[2];
    char header[SIGNATURE_TEXT];
    signing_keys_make(&keys[0]);
    signing_keys_make(&keys[1]);
    signature_make(keys, 2, "evt_1", 17, strview_of("{}"), header);
    cr_assert_eq(strlen(header), 2 * (4 + 88) + 1);
}

Test(signature, secrets_are_24_to_64_bytes_of_base64)
{
    struct signing_secret secret;
    char text[SECRET_TEXT];
    signing_secret_make(&secret);
    signing_secret_text(&secret, text);
    struct signing_secret again = parsed(text);
    cr_assert(again.n == secret.n && memcmp(again.bytes, secret.bytes, secret.n) == 0);
    static const char *const refused[] = {
        "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw=", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw ",
        "whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "nosec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        /* 66 bytes */
        ("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
         "AAAAAAAAAAAAAAAAAAAAAAAAAAAA")};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        cr_assert_not(signing_secret_parse(strview_of(refused[i]), &secret), "%s", refused[i]);
}
