#define _GNU_SOURCE /* memmem */
#include "dispatch/seal.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const unsigned char key[32] = {1, 2, 3};
static const struct seal_place place = {"team", "hook", "secret"};

static enum pv_code
reopen(struct strview sealed, const unsigned char *with, const struct seal_place *at, char out[64])
{
    struct arena arena;
    struct strview secret = {NULL, 0};
    struct pv_error err = {.code = PV_OK};
    arena_init(&arena, 0);
    enum pv_code code = seal_open(&arena, with, at, sealed, &secret, &err);
    out[0] = '\0';
    if (code == PV_OK)
        (void)snprintf(out, 64, "%.*s", (int)secret.n, secret.at);
    arena_fini(&arena);
    return code;
}

Test(seal, what_is_sealed_opens_only_where_it_belongs)
{
    struct arena arena;
    char text[64];
    arena_init(&arena, 0);
    struct strview sealed = seal_close(&arena, key, &place, strview_of("a secret"));
    struct strview again = seal_close(&arena, key, &place, strview_of("a secret"));
    cr_assert_not(strview_equal(sealed, again), "each has a nonce of its own");
    cr_assert_eq(reopen(sealed, key, &place, text), PV_OK);
    cr_assert_str_eq(text, "a secret");
    const struct seal_place others[] = {{"other", "hook", "secret"},
                                        {"team", "other", "secret"},
                                        {"team", "hook", "authorization"}};
    for (size_t i = 0; i < 3; i++)
        cr_assert_eq(reopen(sealed, key, &others[i], text), PV_E_INTERNAL);
    static const unsigned char other_key[32] = {1, 2, 4};
    cr_assert_eq(reopen(sealed, other_key, &place, text), PV_E_INTERNAL);
    arena_fini(&arena);
}

Test(seal, every_changed_bit_and_cut_is_noticed)
{
    struct arena arena;
    char text[64], bytes[128];
    arena_init(&arena, 0);
    struct strview sealed = seal_close(&arena, key, &place, strview_of("a secret"));
    for (size_t i = 0; i < sealed.n; i++) {
        memcpy(bytes, sealed.at, sealed.n);
        bytes[i] = (char)(bytes[i] ^ 1);
        cr_assert_eq(reopen((struct strview){bytes, sealed.n}, key, &place, text), PV_E_INTERNAL);
        cr_assert_eq(reopen((struct strview){sealed.at, i}, key, &place, text), PV_E_INTERNAL);
    }
    cr_assert_null(memmem(sealed.at, sealed.n, "secret", 6));
    arena_fini(&arena);
}
