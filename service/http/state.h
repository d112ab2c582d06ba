#ifndef HTTP_STATE_H
#define HTTP_STATE_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "http/admission.h"
#include "http/memory.h"
#include "http/options.h"
#include "http/request_metrics.h"
#include "http/router.h"
#include "http/token_cache.h"
#include "threads/workers.h"

/*
 * Shared by the files of the server. Who may touch what:
 *
 * struct client    one TCP connection; made and freed by the library's callbacks. phase,
 *                  deadline_ns, exchange and cut_status are read by the sweeper too and belong to
 *                  `lock`.
 * struct exchange  one request and its answer (exchange.h). It belongs to the server thread of its
 *                  connection, except while a job runs: then to a worker.
 */
struct exchange;

enum client_phase {
    CLIENT_WAITING, /* for a request line: ended without a word */
    CLIENT_READING, /* header or body: ended by a 408, or a 400 when it breaks off */
    CLIENT_WORKING, /* suspended, a worker has it: answered 503 when its time is over */
    CLIENT_REPLYING /* sending, or lingering after an early answer */
};

struct client {
    struct http_server *server;
    struct client *previous, *next; /* under server->clients_lock */
    struct MHD_Connection *connection;
    int fd;
    int set_aside; /* the socket itself while its number stands for another, else -1 */
    pthread_mutex_t lock;
    enum client_phase phase;
    uint64_t deadline_ns;
    struct exchange *exchange;
    uint64_t ended_ns;   /* since when nothing more can come; the sweeper's */
    unsigned cut_status; /* what the sweeper answered on its own */
};

struct http_server {
    struct http_server_options options;
    const struct config *config;
    struct http_router router;
    struct http_metrics metrics;
    struct token_cache *tokens;
    struct workers *io;
    struct workers *compute;
    struct workers *health; /* /readyz, however busy the others are */
    struct http_costs costs;
    struct http_memory memory;
    struct MHD_Daemon *daemon;
    int listen_fd;  /* -1 once the library has closed it */
    int silence[2]; /* two sockets on which nothing ever comes; -1 */
    bool deaf;      /* the first of them has taken the number of the listening one */
    uint16_t port;

    pthread_mutex_t clients_lock;
    struct client *clients;
    struct exchange *orphans; /* streams whose end() found the queue full; under clients_lock */

    pthread_t sweeper;
    bool sweeping;
    atomic_bool sweeper_stop;
    atomic_bool draining; /* not ready; connections close after their answer */
    atomic_bool stopping; /* nothing is suspended any more */
    atomic_long suspended;
};

/* client.c */
void client_notify(void *cls,
                   struct MHD_Connection *connection,
                   void **socket_context,
                   enum MHD_ConnectionNotificationCode code);
struct client *client_of(struct MHD_Connection *connection);
void client_enter(struct client *client, enum client_phase phase, uint64_t deadline_ns);
/*
 * Resume the connection of a request. The library (0.9.75) takes it out of its epoll set while it is
 * suspended, reads from it once it is resumed, before it asks for the answer, and closes it then if
 * the client has ended its sending side, as it may after its request (RFC 9112, 9.6). So for that
 * one read its number stands for a socket on which nothing ever comes; client_restore, called
 * when the library asks for the answer, puts the real one back before the library polls it again. Not
 * in the middle of a body: there an end is one. Whoever writes to the socket or shuts it down puts the
 * real one back first: the silent one is everybody's. body_goes_on is that of the exchange's job,
 * read while the job was still running: once it is not, the exchange is the server thread's.
 */
void client_resume(struct client *client, bool body_goes_on);
void client_restore(struct client *client);
void client_restore_locked(struct client *client); /* by who has its lock */
/* One complete answer straight to the socket, for the places where the library takes none. The
 * sending side is closed afterwards. */
void client_write_raw(int fd, const struct http_response *response, const char *request_id);

/* serve.c: the library's callbacks for requests */
void *serve_request_line(void *cls, const char *uri, struct MHD_Connection *connection);
enum MHD_Result serve_request(void *cls,
                              struct MHD_Connection *connection,
                              const char *url,
                              const char *method,
                              const char *version,
                              const char *upload_data,
                              size_t *upload_data_size,
                              void **con_cls);
void serve_completed(void *cls,
                     struct MHD_Connection *connection,
                     void **con_cls,
                     enum MHD_RequestTerminationCode toe);

/* sweep.c */
void *sweep_run(void *server);

/* health.c */
extern const struct http_route health_routes[];
bool health_owns(const struct http_route *route); /* its handler's context is the server */

#endif
