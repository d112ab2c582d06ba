#include "dispatch/target.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

/* --- addresses --- */

/* A block of addresses by the registries: IPv4 ones as mapped. */
struct block {
    unsigned char prefix[16];
    unsigned char bits;
};

#define V4(a, b, c, d, bits_)                                                                      \
    {                                                                                              \
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, (a), (b), (c), (d)}, 96 + (bits_)               \
    }
/* The first four groups. */
#define V6(a, b, c, d, bits_)                                                                      \
    {                                                                                              \
        {(a) >> 8, (a)&0xff, (b) >> 8, (b)&0xff, (c) >> 8, (c)&0xff, (d) >> 8, (d)&0xff}, (bits_)  \
    }

static const struct block special_v4[] = {
    V4(0, 0, 0, 0, 8),       /* this network */
    V4(10, 0, 0, 0, 8),      /* private */
    V4(100, 64, 0, 0, 10),   /* shared (carrier-grade NAT) */
    V4(127, 0, 0, 0, 8),     /* loopback */
    V4(169, 254, 0, 0, 16),  /* link-local, with the metadata services of clouds */
    V4(172, 16, 0, 0, 12),   /* private */
    V4(192, 0, 0, 0, 24),    /* protocol assignments */
    V4(192, 0, 2, 0, 24),    /* documentation */
    V4(192, 88, 99, 0, 24),  /* 6to4 relays */
    V4(192, 168, 0, 0, 16),  /* private */
    V4(198, 18, 0, 0, 15),   /* benchmarking */
    V4(198, 51, 100, 0, 24), /* documentation */
    V4(203, 0, 113, 0, 24),  /* documentation */
    V4(224, 0, 0, 0, 4),     /* multicast */
    V4(240, 0, 0, 0, 4),     /* reserved, broadcast */
};

/* Beyond these, only 2000::/3 is the public internet. */
static const struct block special_v6[] = {
    V6(0x2001, 0, 0, 0, 23),     /* protocol assignments, Teredo among them */
    V6(0x2001, 0xdb8, 0, 0, 32), /* documentation */
    V6(0x2002, 0, 0, 0, 16),     /* 6to4: judged by what it embeds, below */
    V6(0x3fff, 0, 0, 0, 20),     /* documentation */
};
static const struct block global_v6 = V6(0x2000, 0, 0, 0, 3);
static const struct block mapped_v4 = V4(0, 0, 0, 0, 0);
static const struct block nat64 = V6(0x64, 0xff9b, 0, 0, 96);
static const struct block six_to_four = V6(0x2002, 0, 0, 0, 16);

static bool
starts_with(const unsigned char address[16], const unsigned char prefix[16], unsigned bits)
{
    unsigned whole = bits / 8;
    unsigned rest = bits % 8;
    if (memcmp(address, prefix, whole) != 0)
        return false;
    return rest == 0 || ((address[whole] ^ prefix[whole]) & (0xff00u >> rest) & 0xffu) == 0;
}

static bool in_block(const unsigned char address[16], const struct block *block)
{
    return starts_with(address, block->prefix, block->bits);
}

static bool is_special_v4(const unsigned char mapped[16])
{
    for (size_t i = 0; i < sizeof special_v4 / sizeof *special_v4; i++)
        if (in_block(mapped, &special_v4[i]))
            return true;
    return false;
}

static void map_v4(const unsigned char v4[4], unsigned char mapped[16])
{
    memcpy(mapped, mapped_v4.prefix, 12);
    memcpy(mapped + 12, v4, 4);
}

/* NAT64 by its well-known prefix, and 6to4, lead to the IPv4 address that they embed. */
static bool embeds(const unsigned char address[16], unsigned char mapped[16])
{
    if (in_block(address, &nat64))
        map_v4(address + 12, mapped);
    else if (in_block(address, &six_to_four))
        map_v4(address + 2, mapped);
    else
        return false;
    return true;
}

static bool is_special(const unsigned char address[16])
{
    unsigned char embedded[16];
    if (in_block(address, &mapped_v4))
        return is_special_v4(address);
    if (embeds(address, embedded))
        return is_special_v4(embedded);
    if (!in_block(address, &global_v6))
        return true;
    for (size_t i = 0; i < sizeof special_v6 / sizeof *special_v6; i++)
        if (in_block(address, &special_v6[i]))
            return true;
    return false;
}

/* A network of IPv6, like ::/0, holds no IPv4 ones, mapped as they are here. */
static bool is_listed(const struct target_policy *policy, const unsigned char address[16])
{
    unsigned least_bits = in_block(address, &mapped_v4) ? mapped_v4.bits : 0;
    for (size_t i = 0; i < policy->n; i++)
        if (policy->networks[i].bits >= least_bits &&
            starts_with(address, policy->networks[i].address, policy->networks[i].bits))
            return true;
    return false;
}

/* 16 bytes of either family. false: of neither. */
static bool read_address(const struct sockaddr *address, unsigned char bytes[16])
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        map_v4((const unsigned char *)&v4.sin_addr, bytes);
        return true;
    }
    if (address->sa_family != AF_INET6)
        return false;
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof v6);
    memcpy(bytes, &v6.sin6_addr, 16);
    return true;
}

bool target_allows(const struct target_policy *policy, const struct sockaddr *address)
{
    unsigned char bytes[16];
    if (!read_address(address, bytes))
        return false;
    return policy->all || is_listed(policy, bytes) || !is_special(bytes);
}

/* --- the setting --- */

static bool parse_bits(const char *text, unsigned most, unsigned *bits)
{
    char *end = NULL;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value > most)
        return false;
    *bits = (unsigned)value;
    return true;
}

static bool parse_network(char *text, struct target_network *network)
{
    unsigned char v4[4];
    unsigned bits;
    char *slash = strchr(text, '/');
    if (slash != NULL)
        *slash = '\0';
    if (inet_pton(AF_INET, text, v4) == 1) {
        bits = 32;
        if (slash != NULL && !parse_bits(slash + 1, 32, &bits))
            return false;
        map_v4(v4, network->address);
        network->bits = 96 + bits;
        return true;
    }
    bits = 128;
    if (inet_pton(AF_INET6, text, network->address) != 1 ||
        (slash != NULL && !parse_bits(slash + 1, 128, &bits)))
        return false;
    network->bits = bits;
    return true;
}

static enum pv_code
add_network(struct target_policy *policy, struct strview word, struct pv_error *err)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.*s", (int)(word.n < 63 ? word.n : 63), word.at);
    if (policy->n == TARGET_NETWORKS_MAX)
        return pv_fail(err, PV_E_INVALID, "more than %d networks", TARGET_NETWORKS_MAX);
    if (word.n >= sizeof text || !parse_network(text, &policy->networks[policy->n]))
        return pv_fail(err, PV_E_INVALID,
                       "'%.63s' is no network such as 10.2.0.0/16 or fd00::/8, nor 'all'", text);
    policy->n++;
    return PV_OK;
}

enum pv_code target_policy_parse(const char *text,
                                 bool plain_http,
                                 struct target_policy *policy,
                                 struct pv_error *err)
{
    *policy = (struct target_policy){.plain_http = plain_http};
    if (strcmp(text, "all") == 0) {
        policy->all = true;
        return PV_OK;
    }
    while (*text != '\0') {
        text += strspn(text, " ,");
        size_t n = strcspn(text, " ,");
        if (n > 0)
            PV_TRY(add_network(policy, (struct strview){text, n}, err));
        text += n;
    }
    return PV_OK;
}

/* --- URLs --- */

static bool has_part(CURLU *parts, CURLUPart part)
{
    char *text = NULL;
    bool has = curl_url_get(parts, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return has;
}

static enum pv_code
refuse(const char *pointer, const char *code, const char *why, struct pv_error *err)
{
    return pv_fault(err, PV_PLACE_POINTER, pointer, code, "%s", why);
}

static enum pv_code check_scheme(const struct target_policy *policy,
                                 CURLU *parts,
                                 const char *pointer,
                                 struct pv_error *err)
{
    char *scheme = NULL;
    if (curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
        return refuse(pointer, "not_a_url", "must begin with https://", err);
    bool is_https = strcmp(scheme, "https") == 0;
    bool is_http = strcmp(scheme, "http") == 0;
    curl_free(scheme);
    if (is_https || (is_http && policy->plain_http))
        return PV_OK;
    return refuse(pointer, "not_https",
                  is_http ? "must begin with https://; http is for services whose setting "
                            "webhook_plain_http allows it"
                          : "must begin with https://",
                  err);
}

/* Of an address, libcurl gives the usual form whatever the form it was written in, unless a dot is
 * behind it. */
static enum pv_code check_host(const struct target_policy *policy,
                               char *host,
                               const char *pointer,
                               struct pv_error *err)
{
    size_t n = strlen(host);
    if (host[n - 1] == '.')
        host[n - 1] = '\0';
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    char inner[64] = "";
    const struct sockaddr *address = NULL;
    if (host[0] == '[')
        (void)snprintf(inner, sizeof inner, "%.*s", (int)strcspn(host + 1, "]%"), host + 1);
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1)
        address = (const struct sockaddr *)&v4;
    else if (inet_pton(AF_INET6, inner, &v6.sin6_addr) == 1)
        address = (const struct sockaddr *)&v6;
    if (address == NULL || target_allows(policy, address))
        return PV_OK;
    return pv_fault(err, PV_PLACE_POINTER, pointer, "forbidden_address",
                    "%.64s is a private or special address; the setting webhook_private_targets "
                    "lists those that are allowed",
                    host);
}

/* libcurl takes one to three slashes, and names with characters that are encoded: others that read a
 * URL do not, or see another name. */
static bool is_plain(const char *url)
{
    const char *host = strstr(url, "://");
    if (host == NULL || strchr(url, '#') != NULL)
        return false;
    host += 3;
    size_t n = strcspn(host, "/?");
    return n > 0 && (host[0] == '[' || memchr(host, '%', n) == NULL);
}

static bool is_port_zero(CURLU *parts)
{
    char *port = NULL;
    bool is_zero =
        curl_url_get(parts, CURLUPART_PORT, &port, 0) == CURLUE_OK && strcmp(port, "0") == 0;
    curl_free(port);
    return is_zero;
}

static enum pv_code check_parts(const struct target_policy *policy,
                                CURLU *parts,
                                const char *url,
                                const char *pointer,
                                struct pv_error *err)
{
    PV_TRY(check_scheme(policy, parts, pointer, err));
    if (has_part(parts, CURLUPART_USER) || has_part(parts, CURLUPART_PASSWORD))
        return refuse(pointer, "has_credentials",
                      "must hold no user or password; use the member authorization", err);
    if (has_part(parts, CURLUPART_FRAGMENT))
        return refuse(pointer, "not_a_url", "must have no fragment (#...)", err);
    if (!is_plain(url) || is_port_zero(parts))
        return refuse(pointer, "not_a_url",
                      "must begin with https:// and a host, as it is, without % and #, on a port "
                      "from 1 to 65535",
                      err);
    char *host = NULL;
    if (curl_url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK || host[0] == '\0') {
        curl_free(host);
        return refuse(pointer, "not_a_url", "must name a host", err);
    }
    enum pv_code code = check_host(policy, host, pointer, err);
    curl_free(host);
    return code;
}

static bool is_visible(struct strview url)
{
    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.at[i] <= ' ' || (unsigned char)url.at[i] >= 0x7f)
            return false;
    return true;
}

enum pv_code target_check_url(const struct target_policy *policy,
                              struct strview url,
                              const char *pointer,
                              struct pv_error *err)
{
    char text[TARGET_URL_MAX + 1];
    if (url.n > TARGET_URL_MAX)
        return refuse(pointer, "too_long", "must be at most 2,048 bytes long", err);
    if (!is_visible(url))
        return refuse(pointer, "not_a_url",
                      "must hold visible ASCII characters only; percent-encode all others", err);
    memcpy(text, url.at, url.n);
    text[url.n] = '\0';
    CURLU *parts = curl_url();
    if (parts == NULL)
        return pv_no_memory(err);
    enum pv_code code = curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK
                            ? check_parts(policy, parts, text, pointer, err)
                            : refuse(pointer, "not_a_url", "is not a URL that can be asked", err);
    curl_url_cleanup(parts);
    return code;
}
