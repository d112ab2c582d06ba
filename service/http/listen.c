#include "http/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int bind_and_listen(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    bool good = fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
                setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0;
    if (good)
        return fd;
    int why = errno;
    (void)close(fd);
    errno = why;
    return -1;
}

static uint16_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name;
    socklen_t n = sizeof name;
    memset(&name, 0, sizeof name);
    if (getsockname(fd, &name.any, &n) != 0)
        return 0;
    return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
}

enum pv_code
listen_open(const char *address, uint16_t port, int *fd, uint16_t *bound, struct pv_error *err)
{
    char service[8];
    (void)snprintf(service, sizeof service, "%u", (unsigned)port);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(address, service, &hints, &found);
    if (failure != 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "%s is not an address: %s", address,
                       gai_strerror(failure));
    int opened = bind_and_listen(found);
    int why = errno;
    freeaddrinfo(found);
    if (opened < 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "cannot listen on %s port %u: %s", address,
                       (unsigned)port, strerror(why));
    *fd = opened;
    *bound = port_of(opened);
    return PV_OK;
}
