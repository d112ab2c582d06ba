#include "dispatch/target.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>

static struct target_policy policy_of(const char *networks, bool plain_http)
{
    struct target_policy policy;
    struct pv_error err = {.code = PV_OK};
    cr_assert_eq(target_policy_parse(networks, plain_http, &policy, &err), PV_OK, "%s", err.detail);
    return policy;
}

static bool allows(const struct target_policy *policy, const char *address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
        return target_allows(policy, (const struct sockaddr *)&v4);
    cr_assert_eq(inet_pton(AF_INET6, address, &v6.sin6_addr), 1, "%s", address);
    return target_allows(policy, (const struct sockaddr *)&v6);
}

static const char *const special[] = {"0.0.0.0",
                                      "0.1.2.3",
                                      "10.0.0.1",
                                      "10.255.255.255",
                                      "100.64.0.1",
                                      "100.127.255.255",
                                      "127.0.0.1",
                                      "127.255.255.254",
                                      "169.254.169.254",
                                      "172.16.0.1",
                                      "172.31.255.255",
                                      "192.0.0.1",
                                      "192.0.2.1",
                                      "192.88.99.1",
                                      "192.168.1.1",
                                      "198.18.0.1",
                                      "198.19.255.255",
                                      "198.51.100.7",
                                      "203.0.113.9",
                                      "224.0.0.1",
                                      "239.255.255.255",
                                      "240.0.0.1",
                                      "255.255.255.255",
                                      "::",
                                      "::1",
                                      "::127.0.0.1",
                                      "::ffff:127.0.0.1",
                                      "::ffff:10.0.0.1",
                                      "::ffff:169.254.169.254",
                                      "64:ff9b::7f00:1",
                                      "64:ff9b::10.0.0.1",
                                      "64:ff9b:1::1",
                                      "100::1",
                                      "2001::1",
                                      "2001:db8::1",
                                      "2002:7f00:1::1",
                                      "2002:a00:1::1",
                                      "3fff::1",
                                      "fc00::1",
                                      "fd12:3456::1",
                                      "fe80::1",
                                      "fec0::1",
                                      "ff02::1",
                                      "4000::1"};
static const char *const ordinary[] = {"1.1.1.1",
                                       "8.8.8.8",
                                       "9.255.255.255",
                                       "11.0.0.0",
                                       "100.63.255.255",
                                       "100.128.0.0",
                                       "126.255.255.255",
                                       "128.0.0.0",
                                       "169.253.255.255",
                                       "172.15.255.255",
                                       "172.32.0.0",
                                       "192.0.1.1",
                                       "192.167.255.255",
                                       "192.169.0.0",
                                       "198.17.255.255",
                                       "198.20.0.0",
                                       "223.255.255.255",
                                       "::ffff:8.8.8.8",
                                       "64:ff9b::8.8.8.8",
                                       "2002:808:808::1",
                                       "2600::1",
                                       "2a00:1450:4001:800::200e",
                                       "2001:4860:4860::8888"};

Test(target, special_addresses_are_refused_and_others_are_not)
{
    struct target_policy none = policy_of("", false);
    struct target_policy all = policy_of("all", false);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        cr_expect_not(allows(&none, special[i]), "%s", special[i]);
        cr_expect(allows(&all, special[i]), "%s", special[i]);
    }
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
        cr_expect(allows(&none, ordinary[i]), "%s", ordinary[i]);
}

Test(target, other_families_are_refused)
{
    struct target_policy all = policy_of("all", false);
    const struct sockaddr local = {.sa_family = AF_UNIX};
    cr_assert_not(target_allows(&all, &local));
}

Test(target, listed_networks_are_allowed_and_their_neighbours_are_not)
{
    struct target_policy policy = policy_of("10.2.0.0/16, 127.0.0.1,fd00::/8", false);
    static const char *const yes[] = {"10.2.0.1", "10.2.255.255", "127.0.0.1", "::ffff:10.2.3.4",
                                      "fd12::1"};
    static const char *const no[] = {"10.1.255.255", "10.3.0.0", "127.0.0.2", "fc00::1", "::1"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        cr_expect(allows(&policy, yes[i]), "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        cr_expect_not(allows(&policy, no[i]), "%s", no[i]);
}

Test(target, networks_of_one_family_hold_none_of_the_other)
{
    struct target_policy v6 = policy_of("::/0", false);
    cr_expect(allows(&v6, "fd00::1") && allows(&v6, "::1"));
    cr_expect_not(allows(&v6, "10.0.0.1"));
    cr_expect_not(allows(&v6, "::ffff:10.0.0.1"));
    struct target_policy v4 = policy_of("0.0.0.0/0", false);
    cr_expect(allows(&v4, "10.0.0.1") && allows(&v4, "::ffff:10.0.0.1"));
    cr_expect_not(allows(&v4, "fd00::1"));
    struct target_policy mapped = policy_of("::ffff:10.0.0.0/104", false);
    cr_expect(allows(&mapped, "10.9.9.9") && !allows(&mapped, "127.0.0.1"));
}

Test(target, a_list_that_cannot_be_read_is_refused)
{
    static const char *const lists[] = {"everything",  "10.0.0.0/33", "10.0.0.0/",
                                        "10.0.0/8",    "fd00::/129",  "10.0.0.0/8/8",
                                        "10.0.0.0/-1", "localhost",   "10.0.0.0/8;127.0.0.1"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct target_policy policy;
        struct pv_error err = {.code = PV_OK};
        cr_expect_eq(target_policy_parse(lists[i], false, &policy, &err), PV_E_INVALID, "%s",
                     lists[i]);
    }
}

static enum pv_code check(const struct target_policy *policy, const char *url, char code[32])
{
    struct pv_error err = {.code = PV_OK};
    enum pv_code result = target_check_url(policy, strview_of(url), "/url", &err);
    (void)snprintf(code, 32, "%s", err.n_faults == 0 ? "" : err.faults[0].code);
    return result;
}

Test(target, urls)
{
    static const struct {
        const char *url;
        const char *code; /* "": it is accepted */
    } cases[] = {{"https://example.com/hook", ""},
                 {"https://example.com:8443/a?b=c", ""},
                 {"HTTPS://EXAMPLE.com", ""},
                 {"https://8.8.8.8/", ""},
                 {"https://[2600::1]/", ""},
                 {"https://localhost/", ""}, /* a name: decided when it is connected to */
                 {"http://example.com/", "not_https"},
                 {"ftp://example.com/", "not_https"},
                 {"file:///etc/passwd", "not_https"},
                 {"gopher://example.com/", "not_https"},
                 {"example.com", "not_a_url"},
                 {"", "not_a_url"},
                 {"https://", "not_a_url"},
                 {"https://exa mple.com/", "not_a_url"},
                 {"https://example.com/\r\nX: y", "not_a_url"},
                 {"https://ex\xc3\xa4mple.com/", "not_a_url"},
                 {"https://user@example.com/", "has_credentials"},
                 {"https://user:word@example.com/", "has_credentials"},
                 {"https://:word@example.com/", "has_credentials"},
                 {"https://example.com/#part", "not_a_url"},
                 {"https://example.com/#", "not_a_url"},
                 {"https:/example.com/", "not_a_url"},
                 {"https:///example.com/", "not_a_url"},
                 {"https://example.com:0/", "not_a_url"},
                 {"https://example.com:65536/", "not_a_url"},
                 {"https://exa%6dple.com/", "not_a_url"},
                 {"https://a%40b@example.com/", "has_credentials"},
                 {"https://@example.com/", "has_credentials"},
                 {"https://example.com\\@127.0.0.1/", "has_credentials"},
                 {"https://example.com/a@b?c=https://d@e/", ""},
                 {"https://127.0.0.1./", "forbidden_address"},
                 {"https://127.0.0.1.:443/", "forbidden_address"},
                 {"https://%31%32%37.0.0.1/", "not_a_url"},
                 {"https://127.0.0.1/", "forbidden_address"},
                 {"https://127.1/", "forbidden_address"},
                 {"https://2130706433/", "forbidden_address"},
                 {"https://0x7f000001/", "forbidden_address"},
                 {"https://0177.0.0.1/", "forbidden_address"},
                 {"https://0/", "forbidden_address"},
                 {"https://169.254.169.254/latest/meta-data", "forbidden_address"},
                 {"https://[::1]/", "forbidden_address"},
                 {"https://[::ffff:127.0.0.1]/", "forbidden_address"},
                 {"https://[::ffff:7f00:1]/", "forbidden_address"},
                 {"https://[fe80::1%25eth0]/", "forbidden_address"},
                 {"https://10.0.0.1/", "forbidden_address"}};
    struct target_policy none = policy_of("", false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char code[32];
        enum pv_code result = check(&none, cases[i].url, code);
        cr_expect_str_eq(code, cases[i].code, "%s: %s", cases[i].url, code);
        cr_expect_eq(result == PV_OK, cases[i].code[0] == '\0', "%s", cases[i].url);
    }
}

Test(target, plain_http_and_listed_addresses_where_settings_allow_them)
{
    char code[32];
    struct target_policy policy = policy_of("127.0.0.0/8", true);
    cr_expect_eq(check(&policy, "http://127.0.0.1:9099/", code), PV_OK, "%s", code);
    cr_expect_eq(check(&policy, "http://10.0.0.1/", code), PV_E_INVALID);
    char url[TARGET_URL_MAX + 2] = "https://example.com/";
    memset(url + strlen(url), 'a', TARGET_URL_MAX - strlen(url));
    cr_expect_eq(check(&policy, url, code), PV_OK);
    url[TARGET_URL_MAX] = 'a';
    cr_expect_eq(check(&policy, url, code), PV_E_INVALID);
    cr_expect_str_eq(code, "too_long");
}
