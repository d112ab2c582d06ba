#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actuator/configuration.h"
#include "actuator/executors.h"
#include "actuator/quota_loop.h"
#include "actuator/target.h"
#include "actuator/words.h"
#include "cli/arguments/help.h"
#include "cli/arguments/parse.h"
#include "cli/http/retry.h"
#include "cli/remote/remote.h"
#include "cli/settings/settings.h"
#include "threads/clock.h"

/* provisor-actuate: sets the cores that a quota loop grants (docs/quota-loops.md, "Actuator"). */

static const struct option_spec options[] = {
    {"once", 0, OPTION_FLAG, NULL, "Read the loop once, apply it, and end.", false},
    {"dry-run", 0, OPTION_FLAG, NULL,
     "Write no quota; print on standard output which would be written.", false},
    {"verbose", 'v', OPTION_FLAG, NULL,
     "Report each quota that is written, not only the first of each executor.", false},
    {"man", 0, OPTION_FLAG, NULL, "Print the manual page as roff.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
static const struct option_group group = {"Options", options};

static const struct command command_actuate = {
    .name = "actuate",
    .is_program = true,
    .summary = "Set the cores that a quota loop grants, in cgroups or pods of Kubernetes.",
    .positional = "FILE",
    .positional_max = 1,
    .description =
        "Reads a quota loop of the service again and again, and sets what its last sample granted "
        "to each executor: as the quota of a cgroup (version 2, or version 1), or as the limit of "
        "a container by the resize of its pod (Kubernetes 1.33 or later). Only what differs is "
        "written, first what gets less, then what gets more, so that executors of one worker never "
        "add up to more than it has.\n\n"
        "FILE is YAML. `loop` names the quota loop. `cgroup` has `root`, a folder, and `place`, "
        "where below it the cgroup of an executor is: {application}/{executor}, or as `executors` "
        "maps its id. `kubernetes` has `namespace`, `pod`, `container`, and outside a cluster "
        "`api`, `token_file` and `ca_file`. Without samples for `stale_after_s` (15, or 3 x "
        "`sample_s`), `on_stale` "
        "says what becomes of the quotas: keep, release or floor (`floor_cores`, 0.1). What "
        "executors had before is put back at the end with `on_exit: restore`, and survives a crash "
        "in `state_file`.\n\n"
        "SIGTERM and SIGINT end it with status 0.",
    .examples = "  Each second, the quotas of the loop `nightly`:\n"
                "    provisor-actuate /etc/provisor/actuate/nightly.yaml\n"
                "  What would it write?\n"
                "    provisor-actuate --once --dry-run nightly.yaml",
    .groups = {&group}};

static const double POLL_S_MOST = 5;

struct actuator {
    const struct arguments *arguments;
    struct settings settings;
    struct configuration configuration;
    struct target target;
    struct remote *remote;
    struct quota_loop loop;
    struct executors *executors;
    bool once;
    bool stale;
    unsigned failures; /* polls in a row */
    char said[512];    /* of the last failure */
};

static atomic_bool stop;

static void ask_stop(int number)
{
    (void)number;
    atomic_store(&stop, true);
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = ask_stop, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

/* --- reading the loop --- */

/* A poll that waits would hide that the loop is stale: there is another soon. */
static bool read_settings(struct actuator *a, struct failure *failure)
{
    if (!settings_read(a->arguments, &a->settings, failure))
        return false;
    if (!argument_given(a->arguments, "timeout"))
        a->settings.timeout_s = 5;
    if (!a->once)
        a->settings.attempts_max = 1;
    return true;
}

static void say_failure(struct actuator *a, const struct failure *failure)
{
    if (a->said[0] == '\0' || !words_are_same(a->said, failure->what))
        say_warning("the loop '%s' cannot be read: %s", a->configuration.loop, failure->what);
    (void)snprintf(a->said, sizeof a->said, "%.511s", failure->what);
}

static bool poll_loop(struct actuator *a, struct failure *failure)
{
    long status = 0;
    bool good = quota_loop_poll(&a->loop, a->remote, a->configuration.workers, &status, failure);
    if (!good) {
        a->failures++;
        if (status == 401) /* perhaps the token's file has another one by now */
            (void)read_settings(a, &(struct failure){.status = EXIT_DONE});
        return false;
    }
    if (a->failures > 0 && a->said[0] != '\0')
        say("the loop '%s' is read again", a->configuration.loop);
    a->failures = 0;
    a->said[0] = '\0';
    if (a->loop.changed && !executors_grant(a->executors, &a->loop))
        return fail_memory(failure);
    return true;
}

/* --- applying it --- */

static double stale_after_s(const struct actuator *a)
{
    return configuration_stale_after_s(&a->configuration, a->loop.sample_s);
}

static bool is_stale(const struct actuator *a)
{
    double without_s = (double)(clock_monotonic_ns() - a->loop.sampled_ns) / 1e9;
    return !a->once && without_s > stale_after_s(a);
}

static const char *const stale_words[] = {"quotas stay as they are",
                                          "quotas become what they were before",
                                          "quotas below the floor are raised to it"};

static void note_staleness(struct actuator *a)
{
    bool stale = is_stale(a);
    if (stale && !a->stale)
        say_warning("no sample of the loop '%s' for %g s: %s", a->configuration.loop,
                    stale_after_s(a), stale_words[a->configuration.on_stale]);
    else if (!stale && a->stale)
        say("the loop '%s' has samples again", a->configuration.loop);
    a->stale = stale;
}

static enum executors_goal goal_of(const struct actuator *a)
{
    if (!a->stale || a->configuration.on_stale == STALE_KEEP)
        return GOAL_GRANTS;
    return a->configuration.on_stale == STALE_FLOOR ? GOAL_FLOOR : GOAL_BEFORE;
}

static int run_once(struct actuator *a, struct failure *failure)
{
    if (!poll_loop(a, failure))
        return (int)failure->status;
    struct executors_round round = executors_apply(a->executors, GOAL_GRANTS);
    return round.failed == 0 ? EXIT_DONE : EXIT_FAILED;
}

/* Until the next poll, in seconds: longer while polls fail. However seldom there are samples, it is
 * noticed in time that there are none any more, and that the loop has other terms. */
static double pause_s(const struct actuator *a)
{
    const struct retry_policy policy = {
        .attempts_max = a->failures + 2, .first_s = 0.5, .wait_s_max = 5};
    double often = fmin(stale_after_s(a) / 2, POLL_S_MOST);
    double usual =
        a->configuration.poll_s > 0 ? a->configuration.poll_s : fmin(a->loop.sample_s / 2, often);
    double more = a->failures == 0 ? 0 : retry_wait_s(&policy, a->failures, 0, retry_draw());
    return (usual < 0.05 ? 0.05 : usual) + more;
}

static int run_until_stopped(struct actuator *a)
{
    say("applying the loop '%s' of %s", a->configuration.loop, a->settings.url);
    while (!atomic_load(&stop)) {
        struct failure failure = {.status = EXIT_DONE};
        if (!poll_loop(a, &failure) && !atomic_load(&stop))
            say_failure(a, &failure);
        if (atomic_load(&stop))
            break;
        note_staleness(a);
        (void)executors_apply(a->executors, goal_of(a));
        (void)fflush(stdout);
        (void)retry_sleep(pause_s(a), &stop);
    }
    if (!a->configuration.restore_on_exit)
        return EXIT_DONE;
    say("putting back what was there before");
    return executors_restore(a->executors).failed == 0 ? EXIT_DONE : EXIT_FAILED;
}

/* --- beginning and end --- */

static bool open_all(struct actuator *a, const char *file, struct failure *failure)
{
    struct configuration *c = &a->configuration;
    if (!read_settings(a, failure) || !configuration_read(file, c, failure))
        return false;
    bool target = c->kind == TARGET_CGROUP ? cgroup_open(c, &a->target, failure)
                                           : kubernetes_open(c, &a->target, failure);
    return target && remote_open(&a->settings, &stop, &a->remote, failure) &&
           quota_loop_open(&a->loop, a->remote, c->loop, failure) &&
           executors_open(c, &a->target, argument_given(a->arguments, "dry-run"),
                          argument_given(a->arguments, "verbose"), &a->executors, failure);
}

static void close_all(struct actuator *a)
{
    executors_close(a->executors);
    quota_loop_close(&a->loop);
    remote_close(a->remote);
    if (a->target.close != NULL)
        a->target.close(a->target.context);
    configuration_free(&a->configuration);
    settings_clear(&a->settings);
}

static int run(const struct arguments *arguments, struct failure *failure)
{
    static struct actuator a;
    const struct command *path[] = {&command_actuate};
    if (arguments->version)
        return printf("provisor-actuate %s\n", PROVISOR_VERSION) > 0 ? EXIT_DONE : EXIT_FAILED;
    if (arguments->help) {
        help_command(stdout, path, 1);
        return EXIT_DONE;
    }
    if (argument_given(arguments, "man")) {
        help_manual_of(stdout, &command_actuate, PROVISOR_VERSION);
        return EXIT_DONE;
    }
    if (arguments->n_positional == 0)
        return fail(failure, EXIT_USAGE, "provisor-actuate needs FILE, its configuration")
                   ? EXIT_DONE
                   : EXIT_USAGE;
    if (argument_given(arguments, "quiet"))
        words_be_quiet();
    a.arguments = arguments;
    a.once = argument_given(arguments, "once");
    catch_signals();
    int status = EXIT_FAILED;
    if (open_all(&a, arguments->positional[0], failure))
        status = a.once ? run_once(&a, failure) : run_until_stopped(&a);
    close_all(&a);
    return failure->status == EXIT_DONE ? status : (int)failure->status;
}

/* A descriptor that is closed would be given to the next file that is opened. */
static void open_standard_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
            _exit(EXIT_FAILED);
}

enum { WORDS_MAX = 64 };

int main(int argc, char *argv[])
{
    static struct arguments arguments;
    static const struct command *const commands[] = {&command_actuate, NULL};
    static char name[] = "actuate";
    char *words[WORDS_MAX + 2] = {argv[0], name};
    struct failure failure = {.status = EXIT_DONE};
    int status = EXIT_USAGE;
    open_standard_descriptors();
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    if (argc > WORDS_MAX) {
        (void)fail(&failure, EXIT_USAGE, "there are too many words");
    } else {
        for (int i = 1; i < argc; i++)
            words[i + 1] = argv[i];
        if (arguments_parse(argc + 1, words, commands, &arguments, &failure))
            status = run(&arguments, &failure);
    }
    failure_print(&failure);
    if (fflush(stdout) != 0 && status == EXIT_DONE && errno != EPIPE)
        status = EXIT_FAILED;
    return failure.status == EXIT_DONE ? status : (int)failure.status;
}
