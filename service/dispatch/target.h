#ifndef DISPATCH_TARGET_H
#define DISPATCH_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/strview.h"

/*
 * Where messages may be sent. A URL is checked by its form when it is registered; the address is
 * checked when it is connected to, since what a name means may have changed by then.
 */
enum { TARGET_NETWORKS_MAX = 64, TARGET_URL_MAX = 2048 };

struct target_network {
    unsigned char address[16]; /* IPv4 as ::ffff:a.b.c.d */
    unsigned bits;             /* of the 128 */
};

/* Networks that are allowed although they are private or special. */
struct target_policy {
    bool all;
    bool plain_http;
    size_t n;
    struct target_network networks[TARGET_NETWORKS_MAX];
};

/* "", "all", or networks separated by commas: "10.2.0.0/16,fd00::/8"; an address stands for itself.
 * PV_E_INVALID: detail says which part cannot be read. */
enum pv_code target_policy_parse(const char *text,
                                 bool plain_http,
                                 struct target_policy *policy,
                                 struct pv_error *err) PV_MUSTCHECK;

/*
 * Whether to connect there. Refused unless allowed: what is not an address of the public internet by
 * the registries of special-purpose addresses (RFC 6890 and later: loopback, private, shared,
 * link-local, documentation, benchmarking, multicast, reserved), and what embeds such an IPv4 address
 * (mapped, compatible, NAT64, 6to4, Teredo). Families other than IPv4 and IPv6 are refused.
 */
bool target_allows(const struct target_policy *policy, const struct sockaddr *address);

/*
 * Whether a URL may be registered: https (http where the policy says so), a host, no user, password or
 * fragment, no address that the policy refuses, in any of the forms that libcurl understands
 * (127.1, 0x7f000001). Names are not resolved. PV_E_INVALID: a fault at `pointer`.
 */
enum pv_code target_check_url(const struct target_policy *policy,
                              struct strview url,
                              const char *pointer,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
