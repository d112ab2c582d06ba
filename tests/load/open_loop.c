/*
 * Sends one HTTP request again and again, open loop: at instants drawn beforehand (Poisson arrivals
 * at a given rate), whether or not earlier ones were answered, as many independent clients would.
 * A request's latency counts from the instant it was due, so a service that stalls cannot hide it.
 *
 *   open_loop PORT RATE SECONDS CONNECTIONS FILE [TICK_US]
 *
 * FILE holds the request as it goes over the wire. Prints one line of JSON: for each status (0: no
 * answer) how many there were, how many of them while requests still came, and the median, 99th
 * percentile and maximum of their latency in ms. A request that finds no free connection waits for
 * one. With TICK_US requests are sent and answers read that often only; the wait counts as latency.
 */
#define _GNU_SOURCE /* strcasestr */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MAX = 8192, STATUS_MAX = 600, GRACE_S = 20 };

struct client {
    int fd; /* -1: not connected */
    bool busy;
    uint64_t due_ns;
    size_t sent;
    char head[HEAD_MAX];
    size_t head_n;
    bool in_body;
    uint64_t body_left;
    int status;
};

struct answers { /* of one status */
    double *ms;
    size_t n;
    size_t in_time; /* before the last request was sent */
};

static struct sockaddr_in address;
static char *request;
static size_t request_n;
static struct client *clients;
static size_t n_clients;
static size_t *idle; /* clients without a request, last used first */
static size_t n_idle;
static uint64_t *waiting; /* due instants of requests that no client was free for, a ring */
static size_t waiting_size, waiting_at, n_waiting;
static struct answers answers[STATUS_MAX];
static size_t outstanding;
static int poller;
static bool sending = true;
static uint64_t tick_ns; /* 0: none */

static void fail(const char *what)
{
    fprintf(stderr, "open_loop: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void record(int status, uint64_t due_ns)
{
    struct answers *of = &answers[status > 0 && status < STATUS_MAX ? status : 0];
    if ((of->n & (of->n - 1)) == 0) { /* full at each power of two */
        of->ms = realloc(of->ms, (of->n == 0 ? 1 : 2 * of->n) * sizeof *of->ms);
        if (of->ms == NULL)
            fail("memory");
    }
    of->in_time += sending;
    of->ms[of->n++] = (double)(now_ns() - due_ns) / 1e6;
}

static void watch(size_t i, uint32_t events)
{
    struct epoll_event event = {.events = events, .data = {.u64 = i}};
    if (epoll_ctl(poller, EPOLL_CTL_MOD, clients[i].fd, &event) != 0)
        fail("epoll_ctl");
}

static bool connect_client(size_t i)
{
    struct client *c = &clients[i];
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (c->fd < 0)
        return false;
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLOUT, .data = {.u64 = i}};
    if ((connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0 &&
         errno != EINPROGRESS) ||
        epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event) != 0) {
        (void)close(c->fd);
        c->fd = -1;
        return false;
    }
    return true;
}

static void begin(size_t i, uint64_t due_ns);

/* The client's request is over; it goes on with one that waits. */
static void end(size_t i, int status, bool keep)
{
    struct client *c = &clients[i];
    record(status, c->due_ns);
    outstanding--;
    c->busy = false;
    if (!keep) {
        (void)close(c->fd);
        c->fd = -1;
    }
    if (n_waiting > 0) {
        uint64_t due = waiting[waiting_at];
        waiting_at = (waiting_at + 1) % waiting_size;
        n_waiting--;
        begin(i, due);
        return;
    }
    idle[n_idle++] = i;
    if (c->fd >= 0)
        watch(i, EPOLLIN);
}

static void send_some(size_t i)
{
    struct client *c = &clients[i];
    while (c->sent < request_n) {
        ssize_t n = send(c->fd, request + c->sent, request_n - c->sent, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINPROGRESS || errno == ENOTCONN)) {
            watch(i, EPOLLIN | EPOLLOUT);
            return;
        }
        if (n < 0) {
            end(i, 0, false);
            return;
        }
        c->sent += (size_t)n;
    }
    watch(i, EPOLLIN);
}

static void begin(size_t i, uint64_t due_ns)
{
    struct client *c = &clients[i];
    c->busy = true;
    c->due_ns = due_ns;
    c->sent = c->head_n = 0;
    c->in_body = false;
    if (c->fd < 0 && !connect_client(i)) {
        c->busy = false;
        record(0, due_ns);
        outstanding--;
        idle[n_idle++] = i;
        return;
    }
    send_some(i);
}

static bool read_head(struct client *c)
{
    c->head[c->head_n] = '\0';
    char *end_of_head = strstr(c->head, "\r\n\r\n");
    if (end_of_head == NULL)
        return false;
    const char *length = strcasestr(c->head, "\r\ncontent-length:");
    size_t over = c->head_n - (size_t)(end_of_head + 4 - c->head);
    c->status = (int)strtol(c->head + 9, NULL, 10);
    c->body_left = length == NULL ? 0 : strtoull(length + 17, NULL, 10);
    c->body_left -= over < c->body_left ? over : c->body_left;
    c->in_body = true;
    return true;
}

static void receive(size_t i)
{
    static char sink[65536];
    struct client *c = &clients[i];
    for (;;) {
        char *to = c->in_body ? sink : c->head + c->head_n;
        size_t room = c->in_body ? sizeof sink : sizeof c->head - 1 - c->head_n;
        ssize_t n = recv(c->fd, to, room, 0);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0 && !c->busy) { /* the service closed an idle connection */
            (void)close(c->fd);
            c->fd = -1;
            return;
        }
        if (n <= 0) {
            end(i, 0, false);
            return;
        }
        if (c->in_body)
            c->body_left -= (uint64_t)n < c->body_left ? (uint64_t)n : c->body_left;
        else
            c->head_n += (size_t)n;
        if (!c->in_body && !read_head(c))
            continue;
        if (c->body_left == 0) {
            bool closes = strcasestr(c->head, "\r\nconnection: close") != NULL;
            end(i, c->status, !closes);
            return;
        }
    }
}

static void handle(const struct epoll_event *event)
{
    size_t i = (size_t)event->data.u64;
    if (clients[i].fd < 0)
        return;
    if ((event->events & EPOLLOUT) != 0 && clients[i].busy)
        send_some(i);
    else if ((event->events & EPOLLOUT) != 0)
        watch(i, EPOLLIN);
    if (clients[i].fd >= 0 && (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
        receive(i);
}

static void poll_until(uint64_t until_ns)
{
    struct epoll_event events[256];
    uint64_t now = now_ns();
    uint64_t rest_ns = until_ns <= now ? 0 : until_ns - now;
    struct timespec rest = {(time_t)(rest_ns / 1000000000u), (long)(rest_ns % 1000000000u)};
    int n = epoll_pwait2(poller, events, 256, &rest, NULL);
    for (int i = 0; i < n; i++)
        handle(&events[i]);
}

/*
 * Sleeps to the first tick after an instant, and is not woken by answers: clients on machines of their
 * own would take nothing of the service's processors to wake up.
 */
static void poll_after(uint64_t until_ns)
{
    until_ns = (until_ns / tick_ns + 1) * tick_ns;
    struct timespec until = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
    poll_until(0);
}

static void wait_until_due(uint64_t due_ns)
{
    if (tick_ns == 0) {
        do
            poll_until(due_ns);
        while (now_ns() < due_ns);
        return;
    }
    while (now_ns() < due_ns)
        poll_after(due_ns);
}

static void arrive(uint64_t due_ns)
{
    outstanding++;
    if (n_idle > 0) {
        begin(idle[--n_idle], due_ns);
        return;
    }
    if (n_waiting == waiting_size)
        fail("too many requests wait for a client");
    waiting[(waiting_at + n_waiting++) % waiting_size] = due_ns;
}

/* A generator of its own, so that every run has the same arrivals. */
static double draw_gap_s(double rate)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    double u = ((double)(state >> 11) + 0.5) / 9007199254740992.0;
    return -log(u) / rate;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(void)
{
    const char *separator = "";
    putchar('{');
    for (int s = 0; s < STATUS_MAX; s++) {
        struct answers *of = &answers[s];
        if (of->n == 0)
            continue;
        qsort(of->ms, of->n, sizeof *of->ms, by_size);
        printf("%s\"%d\": {\"n\": %zu, \"in_time\": %zu, \"p50_ms\": %.2f, \"p99_ms\": %.2f, "
               "\"max_ms\": %.2f}",
               separator, s, of->n, of->in_time, of->ms[of->n / 2],
               of->ms[(size_t)((double)of->n * 0.99)], of->ms[of->n - 1]);
        separator = ", ";
    }
    printf("}\n");
}

static void read_request(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        fail(path);
    request = malloc(16u << 20);
    request_n = request == NULL ? 0 : fread(request, 1, 16u << 20, in);
    (void)fclose(in);
}

static void open_clients(size_t n)
{
    clients = calloc(n, sizeof *clients);
    idle = calloc(n, sizeof *idle);
    waiting_size = 1u << 20;
    waiting = calloc(waiting_size, sizeof *waiting);
    if (clients == NULL || idle == NULL || waiting == NULL)
        fail("memory");
    n_clients = n;
    for (size_t i = 0; i < n; i++) {
        clients[i].fd = -1;
        idle[n_idle++] = n - 1 - i;
    }
}

int main(int argc, char *argv[])
{
    if (argc != 6 && argc != 7) {
        fprintf(stderr, "usage: open_loop PORT RATE SECONDS CONNECTIONS FILE [TICK_US]\n");
        return 2;
    }
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    double rate = strtod(argv[2], NULL);
    double seconds = strtod(argv[3], NULL);
    tick_ns = argc == 7 ? strtoull(argv[6], NULL, 10) * 1000u : 0;
    poller = epoll_create1(0);
    open_clients(strtoul(argv[4], NULL, 10));
    read_request(argv[5]);
    uint64_t begin_ns = now_ns();
    for (double at = draw_gap_s(rate); at < seconds; at += draw_gap_s(rate)) {
        uint64_t due_ns = begin_ns + (uint64_t)(at * 1e9);
        wait_until_due(due_ns);
        arrive(due_ns);
    }
    sending = false;
    uint64_t last_ns = now_ns() + GRACE_S * UINT64_C(1000000000);
    while (outstanding > 0 && now_ns() < last_ns)
        poll_until(last_ns);
    for (size_t i = 0; i < n_clients; i++)
        if (clients[i].busy)
            record(0, clients[i].due_ns);
    for (; n_waiting > 0; n_waiting--, waiting_at = (waiting_at + 1) % waiting_size)
        record(0, waiting[waiting_at]);
    report();
    return 0;
}
