/*
 * Any bytes as the URL of a webhook, and as the setting of networks: a URL that is taken is https, names
 * no user, and where the C library reads its host as an address, in whatever notation, that one is
 * allowed.
 */
#include <curl/curl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/target.h"
#include "fuzz.h"

static void look_at_host(const struct target_policy *policy, char *host)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    size_t n = strlen(host);
    FUZZ_REQUIRE(n > 0);
    if (host[0] == '[') {
        host[n - 1] = '\0';
        host++;
    }
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return;
    for (const struct addrinfo *a = found; a != NULL; a = a->ai_next)
        FUZZ_REQUIRE(target_allows(policy, a->ai_addr));
    freeaddrinfo(found);
}

static void look_at(const struct target_policy *policy, const char *url)
{
    char *host = NULL;
    char *user = NULL;
    CURLU *parts = curl_url();
    FUZZ_REQUIRE(parts != NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK);
    FUZZ_REQUIRE(curl_url_get(parts, CURLUPART_USER, &user, 0) == CURLUE_NO_USER);
    FUZZ_REQUIRE(curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK);
    look_at_host(policy, host);
    curl_free(host);
    curl_url_cleanup(parts);
}

static char *text_of(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1);
    FUZZ_REQUIRE(text != NULL);
    if (n > 0)
        memcpy(text, data, n);
    text[n] = '\0';
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pv_error err = {.code = PV_OK};
    struct target_policy none;
    struct target_policy listed;
    char *text = text_of(data, n);
    FUZZ_REQUIRE(target_policy_parse("", false, &none, &err) == PV_OK);
    if (target_check_url(&none, (struct strview){(const char *)data, n}, "/url", &err) == PV_OK) {
        FUZZ_REQUIRE(n <= TARGET_URL_MAX && strlen(text) == n);
        look_at(&none, text);
    } else {
        FUZZ_REQUIRE(err.n_faults == 1);
    }
    pv_error_clear(&err);
    if (target_policy_parse(text, true, &listed, &err) == PV_OK)
        for (size_t i = 0; i < listed.n; i++)
            FUZZ_REQUIRE(listed.networks[i].bits <= 128);
    free(text);
    return 0;
}
