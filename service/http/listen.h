#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include <stdint.h>

#include "base/error.h"

/*
 * A listening TCP socket, non-blocking and closed on exec. address is numeric, IPv4 or IPv6; port 0
 * takes any free one. *bound is the port really bound. PV_E_UNAVAILABLE with the reason.
 */
enum pv_code listen_open(const char *address,
                         uint16_t port,
                         int *fd,
                         uint16_t *bound,
                         struct pv_error *err) PV_MUSTCHECK;

#endif
