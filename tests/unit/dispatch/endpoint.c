#include "endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "threads/clock.h"

struct conversation {
    struct endpoint *endpoint;
    int fd;
};

/* A request as a whole; false: the connection has ended. */
static bool read_request(int fd, char *text, size_t room)
{
    size_t n = 0;
    for (;;) {
        ssize_t got = recv(fd, text + n, room - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
        text[n] = '\0';
        const char *body = strstr(text, "\r\n\r\n");
        const char *length = strstr(text, "Content-Length: ");
        if (body != NULL && (length == NULL || strlen(body + 4) >= strtoul(length + 16, NULL, 10)))
            return true;
    }
}

static bool say(int fd, const char *text, size_t n)
{
    return send(fd, text, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static bool answer_status(int fd, int status, const char *headers)
{
    char text[256];
    int n = snprintf(text, sizeof text, "HTTP/1.1 %d X\r\n%sContent-Length: 5\r\n\r\nhello", status,
                     headers);
    if (status == 204)
        n = snprintf(text, sizeof text, "HTTP/1.1 204 X\r\n\r\n");
    return say(fd, text, (size_t)n);
}

static void endless(struct endpoint *endpoint, int fd, size_t piece, long pause_ms)
{
    static char bytes[1 << 16];
    const char *head = "HTTP/1.1 200 X\r\nContent-Length: 1073741824\r\n\r\n";
    memset(bytes, 'x', sizeof bytes);
    bool open = say(fd, head, strlen(head));
    while (open) {
        open = say(fd, bytes, piece);
        atomic_fetch_add(&endpoint->flooded, (long long)piece);
        if (pause_ms > 0)
            clock_sleep_ms(pause_ms);
    }
}

static bool answer_headers(struct endpoint *endpoint, int fd)
{
    static const char line[] = "X-Header: 0123456789 0123456789 0123456789\r\n";
    bool open = say(fd, "HTTP/1.1 200 X\r\n", 16);
    while (open) {
        open = say(fd, line, sizeof line - 1);
        atomic_fetch_add(&endpoint->flooded, (long long)sizeof line - 1);
    }
    return false;
}

/* This text, and so many letters behind it. */
static bool answer_padded(int fd, const char *text, size_t letters)
{
    bool open = say(fd, text, strlen(text));
    for (; open && letters > 0; letters--)
        open = say(fd, "x", 1);
    return false;
}

static bool answer_umlauts(int fd)
{
    char text[2048];
    int n = snprintf(text, sizeof text, "HTTP/1.1 200 X\r\nContent-Length: 1201\r\n\r\n.");
    for (int i = 0; i < 600; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "\xc3\xbc");
    return say(fd, text, (size_t)n);
}

/* true: the connection goes on. */
static bool answer(struct endpoint *endpoint, int fd, const char *path)
{
    if (strncmp(path, "/slow", 5) == 0) {
        clock_sleep_ms(50);
        return answer_status(fd, 200, "");
    }
    if (strncmp(path, "/hang", 5) == 0) {
        char byte;
        (void)recv(fd, &byte, 1, 0); /* until the other side has had enough */
        return false;
    }
    if (strncmp(path, "/drop", 5) == 0)
        return false;
    if (strncmp(path, "/trickle", 8) == 0) {
        endless(endpoint, fd, 1, 100);
        return false;
    }
    if (strncmp(path, "/flood", 6) == 0) {
        endless(endpoint, fd, 1 << 16, 0);
        return false;
    }
    if (strncmp(path, "/binary", 7) == 0) {
        const char *text = "HTTP/1.1 200 X\r\nContent-Length: 4\r\n\r\na\xff\0b";
        return say(fd, text, strlen(text) + 2);
    }
    if (strncmp(path, "/umlauts", 8) == 0)
        return answer_umlauts(fd);
    if (strncmp(path, "/early", 6) == 0) {
        const char *text = "HTTP/1.1 103 X\r\n\r\n";
        (void)say(fd, text, strlen(text));
        return false;
    }
    if (strncmp(path, "/headers", 8) == 0)
        return answer_headers(endpoint, fd);
    if (strncmp(path, "/header", 7) == 0)
        return answer_padded(fd, "HTTP/1.1 200 X\r\nX-Header: ", 200000);
    if (strncmp(path, "/switched", 9) == 0)
        return answer_padded(fd, "HTTP/1.1 101 X\r\n\r\n", 128 << 10);
    if (strncmp(path, "/switch", 7) == 0)
        return answer_padded(fd, "HTTP/1.1 101 X\r\n\r\n", 0);
    if (strncmp(path, "/past", 5) == 0)
        return answer_status(fd, 503, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    if (strncmp(path, "/date", 5) == 0)
        return answer_status(fd, 503, "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n");
    int status = atoi(path + 1);
    return answer_status(fd, status,
                         status == 429   ? "Retry-After: 7\r\n"
                         : status == 301 ? "Location: http://127.0.0.1:1/\r\n"
                                         : "");
}

static void *converse(void *argument)
{
    struct conversation conversation = *(struct conversation *)argument;
    struct endpoint *endpoint = conversation.endpoint;
    char text[8192];
    free(argument);
    bool open = true;
    while (open && read_request(conversation.fd, text, sizeof text)) {
        const char *path = strchr(text, ' ');
        int now = atomic_fetch_add(&endpoint->under_way, 1) + 1;
        int most = atomic_load(&endpoint->most_under_way);
        while (now > most && !atomic_compare_exchange_weak(&endpoint->most_under_way, &most, now))
            ;
        if (strstr(text, " /last") != NULL) /* by one test at a time */
            memcpy(endpoint->last, text, sizeof endpoint->last);
        atomic_fetch_add(&endpoint->requests, 1);
        open =
            answer(endpoint, conversation.fd, strstr(text, " /last") != NULL ? "/200" : path + 1);
        atomic_fetch_sub(&endpoint->under_way, 1);
    }
    (void)close(conversation.fd);
    return NULL;
}

static void *accept_all(void *argument)
{
    struct endpoint *endpoint = argument;
    for (;;) {
        struct conversation *conversation = malloc(sizeof *conversation);
        int fd = accept(endpoint->fd, NULL, NULL);
        pthread_t thread;
        if (conversation == NULL || fd < 0)
            return NULL;
        *conversation = (struct conversation){endpoint, fd};
        atomic_fetch_add(&endpoint->connections, 1);
        if (pthread_create(&thread, NULL, converse, conversation) != 0)
            return NULL;
        (void)pthread_detach(thread);
    }
}

bool endpoint_start(struct endpoint *endpoint)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    pthread_t thread;
    memset(endpoint, 0, sizeof *endpoint);
    endpoint->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (endpoint->fd < 0 || bind(endpoint->fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(endpoint->fd, 256) != 0 ||
        getsockname(endpoint->fd, (struct sockaddr *)&at, &n) != 0)
        return false;
    endpoint->port = ntohs(at.sin_port);
    if (pthread_create(&thread, NULL, accept_all, endpoint) != 0)
        return false;
    return pthread_detach(thread) == 0;
}
