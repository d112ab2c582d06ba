/* The sender against openssl's server: which certificates it takes. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <signal.h>
#include <sodium.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dispatch/sender.h"
#include "threads/clock.h"

extern char **environ;

static char folder[] = "/tmp/provisor-tls-XXXXXX";
static char certificate[64], key[64];
static int port;
static pid_t server;
static int answers; /* what is written to it, the server answers */

static pid_t start(char *command, int input)
{
    pid_t child = -1;
    char shell[] = "sh";
    char option[] = "-c";
    char *const words[] = {shell, option, command, NULL};
    posix_spawn_file_actions_t actions;
    cr_assert_eq(posix_spawn_file_actions_init(&actions), 0);
    if (input >= 0)
        (void)posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 2, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 2, 0);
    cr_assert_eq(posix_spawnp(&child, shell, &actions, NULL, words, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    return child;
}

static void make_certificate(void)
{
    char command[512];
    int status = -1;
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(certificate, sizeof certificate, "%s/certificate", folder);
    (void)snprintf(key, sizeof key, "%s/key", folder);
    (void)snprintf(command, sizeof command,
                   "exec openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
                   " -keyout %s -out %s -days 2 -subj /CN=test -addext"
                   " subjectAltName=IP:127.0.0.1",
                   key, certificate);
    cr_assert_gt(waitpid(start(command, -1), &status, 0), 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "openssl req");
}

static bool is_open(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool open = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    (void)close(fd);
    return open;
}

static int free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
              getsockname(fd, (struct sockaddr *)&at, &n) == 0);
    (void)close(fd);
    return ntohs(at.sin_port);
}

static void begin(void)
{
    int ends[2];
    char command[256];
    make_certificate();
    port = free_port();
    (void)snprintf(command, sizeof command,
                   "exec openssl s_server -quiet -accept 127.0.0.1:%d -cert %s -key %s", port,
                   certificate, key);
    cr_assert_eq(pipe(ends), 0);
    server = start(command, ends[0]);
    answers = ends[1];
    for (int i = 0; i < 500 && !is_open(); i++)
        clock_sleep_ms(10);
    cr_assert(sodium_init() >= 0 && sender_init_library());
}

static void end(void)
{
    int status;
    (void)kill(server, SIGKILL);
    (void)waitpid(server, &status, 0);
    (void)unlink(certificate);
    (void)unlink(key);
    (void)rmdir(folder);
}

static void ready(void *context)
{
    (void)context;
}

static struct sender_outcome ask(const char *host, const char *ca_file)
{
    char url[64];
    struct pv_error err = {.code = PV_OK};
    struct target_policy policy;
    struct signing_secret secret;
    struct sender_lane lane;
    struct sender *sender = NULL;
    struct sender_outcome *outcomes = NULL;
    cr_assert_eq(target_policy_parse("127.0.0.0/8", false, &policy, &err), PV_OK);
    const struct sender_options options = {.policy = &policy,
                                           .connections_max = 1,
                                           .timeout_ms = 5000,
                                           .connect_timeout_ms = 5000,
                                           .ca_file = ca_file,
                                           .ready = ready};
    cr_assert_eq(sender_create(&options, &sender, &err), PV_OK);
    signing_secret_make(&secret);
    sender_lane_open(&lane, "team", 1);
    (void)snprintf(url, sizeof url, "https://%s:%d/", host, port);
    const struct sender_delivery delivery = {.lane = &lane,
                                             .url = strview_of(url),
                                             .secrets = &secret,
                                             .n_secrets = 1,
                                             .id = "evt_1",
                                             .content_type = "application/json",
                                             .body = strview_of("{}")};
    cr_assert_eq(sender_submit(sender, &delivery, &err), PV_OK);
    for (int i = 0; i < 10000 && outcomes == NULL; i++) {
        outcomes = sender_take_outcomes(sender);
        clock_sleep_ms(1);
    }
    cr_assert_not_null(outcomes);
    struct sender_outcome outcome = *outcomes;
    sender_outcomes_free(outcomes);
    sender_destroy(sender);
    return outcome;
}

Test(sender_tls, certificates_are_verified, .init = begin, .fini = end, .timeout = 60)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    struct sender_outcome stranger = ask("127.0.0.1", NULL);
    cr_expect(stranger.status == 0 && !stranger.complete &&
                  strstr(stranger.error, "certificate") != NULL,
              "%s", stranger.error);
    struct sender_outcome other_name = ask("localhost", certificate);
    cr_expect(other_name.status == 0 && strstr(other_name.error, "certificate") != NULL, "%s",
              other_name.error);
    cr_assert_eq(write(answers, answer, sizeof answer - 1), (ssize_t)sizeof answer - 1);
    struct sender_outcome trusted = ask("127.0.0.1", certificate);
    cr_expect(sender_succeeded(&trusted), "%s", trusted.error);
    cr_expect_str_eq(trusted.answer, "ok");
}
