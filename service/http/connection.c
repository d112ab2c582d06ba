#define _GNU_SOURCE
#include "http/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/exchange.h"
#include "resources/resources.h"
#include "threads/clock.h"

/* Who has not asked for anything yet is waited for less long. */
static uint64_t first_deadline(const struct config *config, uint64_t now_ns)
{
    int64_t idle_s = config->connection_first_idle_s < config->connection_idle_s
                         ? config->connection_first_idle_s
                         : config->connection_idle_s;
    return now_ns + (uint64_t)idle_s * 1000000000u;
}

static void client_open(struct http_listener *listener,
                        struct MHD_Connection *connection,
                        void **socket_context)
{
    struct http_server *server = listener->server;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct client *client = calloc(1, sizeof *client);
    *socket_context = client; /* NULL: the request is answered 503 */
    if (client == NULL)
        return;
    client->listener = listener;
    client->server = server;
    client->connection = connection;
    client->fd = info == NULL ? -1 : info->connect_fd;
    client->set_aside = -1;
    client->since_ns = clock_monotonic_ns();
    client->deadline_ns = first_deadline(server->config, client->since_ns);
    (void)pthread_mutex_init(&client->lock, NULL);
    http_wire_init(&client->wire, (size_t)server->config->query_parameters_max);
    receive_set(client->fd, client);

    (void)pthread_mutex_lock(&server->clients_lock);
    client->next = server->clients;
    if (client->next != NULL)
        client->next->previous = client;
    server->clients = client;
    (void)pthread_mutex_unlock(&server->clients_lock);
    (void)atomic_fetch_add(&server->metrics.connections, 1);
    if (atomic_fetch_add(&listener->connections, 1) >= listener->crowded)
        sweep_call(server, false);
}

/* The library closes the socket after this, so the sweeper never meets a number in new hands. */
static void client_close(struct client *client)
{
    struct http_server *server = client->server;
    receive_set(client->fd, NULL);
    (void)pthread_mutex_lock(&server->clients_lock);
    if (client->previous != NULL)
        client->previous->next = client->next;
    else
        server->clients = client->next;
    if (client->next != NULL)
        client->next->previous = client->previous;
    (void)pthread_mutex_unlock(&server->clients_lock);
    (void)atomic_fetch_sub(&server->metrics.connections, 1);
    (void)atomic_fetch_sub(&client->listener->connections, 1);

    resources_close(server->options.resources, &client->place);
    if (client->set_aside >= 0)
        (void)close(client->set_aside);
    /* The library does not call serve_completed for a request whose header never came whole. */
    if (client->exchange != NULL)
        exchange_release(client->exchange, false);
    (void)pthread_mutex_destroy(&client->lock);
    free(client);
}

void client_notify(void *cls,
                   struct MHD_Connection *connection,
                   void **socket_context,
                   enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        client_open(cls, connection, socket_context);
    else if (*socket_context != NULL) {
        client_close(*socket_context);
        *socket_context = NULL;
    }
}

struct client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static void enter(struct client *client, enum client_phase phase, uint64_t deadline_ns, bool slow)
{
    (void)pthread_mutex_lock(&client->lock);
    client->phase = phase;
    client->since_ns = clock_monotonic_ns();
    client->deadline_ns = deadline_ns;
    client->slow = slow;
    client->ended_ns = 0;
    (void)pthread_mutex_unlock(&client->lock);
}

void client_enter(struct client *client, enum client_phase phase, uint64_t deadline_ns)
{
    enter(client, phase, deadline_ns, false);
}

void client_enter_upload(struct client *client, uint64_t idle_ns, uint64_t rate_ns)
{
    bool slow = rate_ns < idle_ns;
    enter(client, CLIENT_READING, slow ? rate_ns : idle_ns, slow);
}

/* A proxy may send requests of one team after those of another on the same connection. */
static enum pv_code move_to_team(struct client *client, const char *team, struct pv_error *err)
{
    struct resources *resources = client->server->options.resources;
    (void)pthread_mutex_lock(&client->lock);
    bool moved = resources_open(resources, RESOURCE_CONNECTIONS, team, &client->place);
    if (moved && client->place.used == 0)
        ledger_take_anyway(&client->place, 1);
    (void)pthread_mutex_unlock(&client->lock);
    if (!moved)
        return pv_no_memory(err);
    (void)snprintf(client->team, sizeof client->team, "%s", team);
    client->beyond = true; /* until it is looked at */
    return PV_OK;
}

enum pv_code client_join(struct client *client, const char *team, struct pv_error *err)
{
    struct http_listener *listener = client->listener;
    if (strcmp(client->team, team) != 0)
        PV_TRY(move_to_team(client, team, err));
    if (client->beyond)
        client->beyond = !ledger_is_within(&client->place);
    if (!client->beyond || atomic_load(&listener->connections) <= listener->beyond_max ||
        !crowd_is_full(listener))
        return PV_OK;
    enum pv_code code = resources_refuse(&client->place, RESOURCE_CONNECTIONS, err);
    (void)pthread_mutex_lock(&client->lock);
    ledger_give(&client->place, client->place.used);
    client->ends = true;
    (void)pthread_mutex_unlock(&client->lock);
    return code;
}

void client_restore_locked(struct client *client)
{
    if (client->set_aside < 0)
        return;
    (void)dup3(client->set_aside, client->fd, O_CLOEXEC);
    (void)close(client->set_aside);
    client->set_aside = -1;
}

void client_restore(struct client *client)
{
    (void)pthread_mutex_lock(&client->lock);
    client_restore_locked(client);
    (void)pthread_mutex_unlock(&client->lock);
}

void client_resume(struct client *client, bool body_goes_on)
{
    struct http_server *server = client->server;
    /* Under the lock, as the sweeper looks at the socket. */
    (void)pthread_mutex_lock(&client->lock);
    client_restore_locked(client);
    if (client->exchange != NULL && !body_goes_on) {
        client->set_aside = fcntl(client->fd, F_DUPFD_CLOEXEC, 0);
        if (client->set_aside >= 0)
            (void)dup3(server->silence[0], client->fd, O_CLOEXEC);
    }
    (void)pthread_mutex_unlock(&client->lock);
    MHD_resume_connection(client->connection);
    (void)atomic_fetch_sub(&server->suspended, 1);
}

/* Appends a header line; false when it does not fit. */
static bool add_line(char *text, size_t size, size_t *n, const char *name, const char *value)
{
    int more = snprintf(text + *n, size - *n, "%s: %s\r\n", name, value);
    if (more < 0 || (size_t)more >= size - *n)
        return false;
    *n += (size_t)more;
    return true;
}

void client_write_raw(int fd, const struct http_response *response, const char *request_id)
{
    char head[1024];
    char length[24];
    int start = snprintf(head, sizeof head, "HTTP/1.1 %u %s\r\n", response->status,
                         MHD_get_reason_phrase_for(response->status));
    size_t n = start > 0 ? (size_t)start : 0;
    (void)snprintf(length, sizeof length, "%zu", response->body_n);
    bool whole = add_line(head, sizeof head, &n, "Connection", "close") &&
                 add_line(head, sizeof head, &n, "Content-Type", response->content_type) &&
                 add_line(head, sizeof head, &n, "Content-Length", length) &&
                 add_line(head, sizeof head, &n, "X-Content-Type-Options", "nosniff");
    if (request_id[0] != '\0')
        whole = whole && add_line(head, sizeof head, &n, "X-Request-Id", request_id);
    for (size_t i = 0; i < response->n_headers; i++)
        whole = whole && add_line(head, sizeof head, &n, response->headers[i].name,
                                  response->headers[i].value);
    if (whole && n + 2 < sizeof head) {
        head[n++] = '\r';
        head[n++] = '\n';
        /* A few kB into an empty send buffer: what does not fit now is not worth waiting for. */
        if (send(fd, head, n, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE) == (ssize_t)n)
            (void)send(fd, response->body, response->body_n, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    (void)shutdown(fd, SHUT_WR);
}
