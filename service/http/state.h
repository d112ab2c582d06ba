#ifndef HTTP_STATE_H
#define HTTP_STATE_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/strview.h"
#include "http/admission.h"
#include "http/options.h"
#include "http/rate.h"
#include "http/request_metrics.h"
#include "http/router.h"
#include "http/token_cache.h"
#include "http/wire.h"
#include "threads/workers.h"

/*
 * Shared by the files of the server. Who may touch what:
 *
 * struct http_listener  a socket that takes connections, with the library's threads behind it.
 * struct client    one TCP connection; made and freed by the library's callbacks. phase,
 *                  deadline_ns, since_ns, slow, ends, place.share, exchange and cut_status are read by the
 *                  sweeper too and belong to `lock`.
 * struct exchange  one request and its answer (exchange.h). It belongs to the server thread of its
 *                  connection, except while a job runs: then to a worker.
 */
struct exchange;

enum client_phase {
    CLIENT_WAITING,  /* for a request line: ended without a word */
    CLIENT_READING,  /* header or body: ended by a 408, or a 400 when it breaks off */
    CLIENT_WORKING,  /* suspended, a worker has it: answered 503 when its time is over */
    CLIENT_REPLYING, /* sending */
    CLIENT_LINGERING /* answered early: what still comes is dropped for a moment */
};

struct client {
    struct http_listener *listener;
    struct http_server *server;
    struct client *previous, *next; /* under server->clients_lock */
    struct MHD_Connection *connection;
    int fd;
    int set_aside; /* the socket itself while its number stands for another, else -1 */
    pthread_mutex_t lock;
    enum client_phase phase;
    uint64_t deadline_ns;
    uint64_t since_ns; /* in this phase */
    bool slow;         /* the deadline is that of an upload's least rate */
    bool ends;         /* with the answer: it was refused its place */
    /* Among its team's connections, from its first valid token on. */
    struct ledger_account place;
    /* These two are the library's thread's alone. */
    char team[WORKERS_OWNER]; /* whose it is; "": a stranger's */
    bool beyond;              /* when it came the team held its share already */
    struct exchange *exchange;
    /* Of the bytes received; the library's thread's alone (receive.c). */
    struct http_wire wire;
    const char *fault;   /* what is wrong with them */
    bool fault_waits;    /* for the answers to the requests before it */
    bool refused;        /* it was answered; nothing more is read */
    uint64_t ended_ns;   /* since when nothing more can come; the sweeper's */
    unsigned cut_status; /* what the sweeper answered on its own */
};

struct http_listener {
    struct http_server *server;
    struct MHD_Daemon *daemon;
    int fd; /* -1 once the library has closed it */
    uint16_t port;
    bool deaf;       /* the socket behind fd has been closed */
    bool for_health; /* serves health_routes and nothing else */
    long connections_max;
    /* What happens with more connections than so many, rising: */
    long crowded;    /* idle ones are closed, but for those of teams within their share; */
    long beyond_max; /* on one beyond its team's share nothing is served; */
    long within_max; /* idle ones of any team are closed */
    atomic_long connections;
    atomic_bool full;           /* fewer idle ones could be closed than there were too many */
    _Atomic uint64_t looked_ns; /* when that was found; 0: not since it became crowded */
    uint64_t awaiting_ns;       /* since when a team that holds more is about to have idle ones; the
                             sweeper's */
    struct workers
        *readiness; /* /readyz, however busy others are: one thread, waits for PostgreSQL */
};

struct http_server {
    struct http_server_options options;
    const struct config *config;
    struct http_router router;
    struct http_metrics metrics;
    struct token_cache *tokens;
    struct workers *io;
    struct workers *compute;
    struct workers *renewals;    /* of tokens: one thread, waits for PostgreSQL */
    struct workers *exposition;  /* /metrics: one thread, waits for nothing */
    struct arena metrics_arena;  /* of the text; this and the next two belong to that thread */
    struct strview metrics_text; /* as it was answered last; at NULL: never */
    uint64_t metrics_made_ns;
    struct http_rate lookups;         /* of tokens that nobody has used before */
    struct http_rate stranger_lines;  /* of the log, about who has sent no valid token */
    atomic_ullong stranger_lines_cut; /* not reported yet */
    struct http_costs costs;
    size_t memory_highest; /* the most that requests held since memory went back; the sweeper's */
    struct http_listener listener;
    struct http_listener health; /* fd -1: there is none */
    int silence[2];              /* two sockets on which nothing ever comes; -1 */

    pthread_mutex_t clients_lock;
    struct client *clients;
    struct exchange *orphans; /* streams whose end() found the queue full; under clients_lock */

    pthread_mutex_t spare_lock;
    struct exchange *spare; /* ended, for requests to come */
    size_t n_spare;

    pthread_t sweeper;
    bool sweeping;
    pthread_mutex_t sweeper_lock;
    pthread_cond_t sweeper_wanted; /* by sweeper_stop or somebody crowded */
    bool sweeper_stop;
    bool sweeper_called;
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
/* Enter CLIENT_READING for more of an upload: until idle_ns something is to come, and so much of it
 * that its time, rate_ns by now, is not over. */
void client_enter_upload(struct client *client, uint64_t idle_ns, uint64_t rate_ns);
/*
 * It has sent a valid token of that team, which has the connection from now on. Takes no lock where
 * it has it already. A connection beyond the team's share is served all the same until few places
 * are left: then PV_E_QUOTA, or PV_E_UNAVAILABLE where no other team has any, and it is to end with
 * that answer. Or PV_E_MEMORY.
 */
enum pv_code
client_join(struct client *client, const char *team, struct pv_error *err) PV_MUSTCHECK;
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

/* receive.c: what is read from the sockets, before the library reads it */
bool receive_init(void); /* false: no memory */
void receive_set(int fd, struct client *client);
void receive_answer_fault(struct client *client);

/* listener.c */

/* Before the sweeper starts, which looks at it. */
void listener_init(struct http_listener *listener,
                   struct http_server *server,
                   int64_t connections_max);

/* Listen, and serve what comes; on failure listener_stop is owed all the same. */
enum pv_code listener_start(struct http_listener *listener,
                            const char *address,
                            int64_t port,
                            struct pv_error *err) PV_MUSTCHECK;
/* Nobody is let in any more; the connections there are stay. */
void listener_close(struct http_listener *listener);
/* Ends the connections and the threads, too. Nothing may be suspended any more. */
void listener_stop(struct http_listener *listener);

/* Say in the log how many lines about strangers it lacks. */
void serve_report_cut_lines(struct http_server *server);

/* sweep.c */
void *sweep_run(void *server);
/* Look at the connections now: a listener is crowded, or the server ends. */
void sweep_call(struct http_server *server, bool stop);
/* With the client's lock: shut its socket down. The library closes it then, and takes another
 * connection in its place. */
void sweep_cut(struct client *client);

/* crowd.c */

/* Close idle connections of a listener that is crowded; the sweeper's. false: there is still too
 * little room. O(n log n) of its connections where it is crowded, else O(1). */
bool crowd_make_room(struct http_listener *listener);
/* Would closing idle connections make too little room in this crowded listener? As was found when
 * they were looked at last; where that is long ago, as after the sweeper had no processor for a
 * while, they are looked at now: O(n). Takes the locks of the clients. */
bool crowd_is_full(struct http_listener *listener);

/* health.c */
extern const struct http_route health_routes[];
bool health_owns(const struct http_route *route); /* its handler's context is the server */
bool health_has(const struct http_resource *resource);
/* Who runs the handler of such a route for a client of this listener. */
struct workers *health_workers(const struct http_listener *listener,
                               const struct http_route *route);

#endif
