#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/access/authenticate.h"
#include "codec/history/run.h"
#include "command/args.h"
#include "command/command.h"
#include "command/quotas.h"
#include "http/token.h"
#include "import/import_operation.h"
#include "log/log.h"
#include "logfiles/report.h"
#include "store/access/access.h"
#include "threads/clock.h"

/*
 * Logs that lie on disk, straight into the database; provisord may serve meanwhile. Who may do so
 * shows a token of the team, or owns the database.
 */
enum { PATHS_MAX = 1024, LABELS_MAX = 1000, LABEL_VALUE_MAX = 1024, THREADS_MAX = 256 };

struct import_request {
    const char *paths[PATHS_MAX];
    size_t n_paths;
    const char *team;
    const char *token_file;
    const char *application;
    const char *labels[LABELS_MAX];
    size_t n_labels;
    size_t threads;
    bool dry_run;
    bool json;
    bool quiet;
};

static int import_usage(const char *why)
{
    fprintf(stderr,
            "provisord: import: %s\n"
            "usage: provisord import PATH... (--team T | --token-file FILE) [--application NAME]\n"
            "           [--label KEY:VALUE ...] [--threads N] [--dry-run] [--json] [--quiet]\n",
            why);
    return COMMAND_USAGE;
}

static int import_fail(const struct config *config, const struct pv_error *err)
{
    fprintf(stderr, "provisord: import: %s\n", err->detail);
    args_explain_unreachable(config, false, err);
    return COMMAND_FAILED;
}

/* --- arguments --- */

static bool read_threads(const char *text, size_t *threads)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 ||
        value > THREADS_MAX)
        return false;
    *threads = value;
    return true;
}

static const char *
check_request(const struct import_request *request, const char *threads, size_t *n)
{
    if (request->n_paths == 0)
        return "say which folders or files";
    if ((request->team == NULL) == (request->token_file == NULL))
        return "say --team or --token-file, one of the two";
    if (request->team != NULL && !codec_is_name(strview_of(request->team)))
        return "--team is a name of 1 to 255 characters";
    if (request->application != NULL && !codec_is_name(strview_of(request->application)))
        return "--application is a name of 1 to 255 characters without control characters";
    if (threads != NULL && !read_threads(threads, n))
        return "--threads is a whole number from 1 to 256";
    return NULL;
}

static int
read_request(int argc, char *argv[], struct import_request *request, struct config *config)
{
    struct arg_option options[] = {
        {.name = "team"},
        {.name = "token-file"},
        {.name = "application"},
        {.name = "threads"},
        {.name = "label", .values = request->labels, .values_max = LABELS_MAX},
        {.name = "dry-run", .flag = true},
        {.name = "json", .flag = true},
        {.name = "quiet", .flag = true},
        {.name = NULL}};
    if (!args_read(argc, argv, options, request->paths, PATHS_MAX, &request->n_paths, config))
        return COMMAND_USAGE;
    request->team = options[0].value;
    request->token_file = options[1].value;
    request->application = options[2].value;
    request->threads = (size_t)config->compute_workers;
    request->n_labels = options[4].n_values;
    request->dry_run = options[5].value != NULL;
    request->json = options[6].value != NULL;
    request->quiet = options[7].value != NULL;
    const char *wrong = check_request(request, options[3].value, &request->threads);
    return wrong == NULL ? COMMAND_DONE : import_usage(wrong);
}

/* What is wrong with them, or NULL. */
static const char *read_labels(const struct import_request *request,
                               const struct config *config,
                               struct run_label labels[])
{
    if (request->n_labels > (size_t)config->labels_max)
        return "there are more --label than labels_max allows";
    for (size_t i = 0; i < request->n_labels; i++) {
        const char *text = request->labels[i];
        const char *colon = strchr(text, ':');
        if (colon == NULL)
            return "--label reads KEY:VALUE";
        labels[i] = (struct run_label){{text, (size_t)(colon - text)}, strview_of(colon + 1)};
        if (!codec_is_name(labels[i].key))
            return "the key of a --label is 1 to 255 characters without control characters";
        if (labels[i].value.n > LABEL_VALUE_MAX || !strview_is_utf8(labels[i].value))
            return "the value of a --label is at most 1024 bytes of UTF-8";
    }
    qsort(labels, request->n_labels, sizeof *labels, run_label_compare);
    for (size_t i = 1; i < request->n_labels; i++)
        if (strview_equal(labels[i].key, labels[i - 1].key))
            return "the same key of a --label is given twice";
    return NULL;
}

/* --- who --- */

/* The token in a file ("-": standard input), without the blanks around it. */
static enum pv_code read_token(const char *file, char text[TOKEN_TEXT], struct pv_error *err)
{
    char bytes[2 * TOKEN_TEXT];
    int fd = strcmp(file, "-") == 0 ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes - 1);
    int why = errno;
    if (fd > STDIN_FILENO)
        (void)close(fd);
    if (n < 0)
        return pv_fail(err, PV_E_NOT_FOUND, "the token cannot be read: %s", strerror(why));
    bytes[n] = '\0';
    size_t from = strspn(bytes, " \t\r\n");
    size_t length = strcspn(bytes + from, " \t\r\n");
    bool fits = length < TOKEN_TEXT;
    (void)snprintf(text, TOKEN_TEXT, "%.*s", fits ? (int)length : 0, bytes + from);
    sodium_memzero(bytes, sizeof bytes);
    return PV_OK;
}

static enum pv_code ask_token(const struct config *config,
                              struct store *store,
                              const char *file,
                              struct principal *who,
                              struct pv_error *err)
{
    struct api api;
    char text[TOKEN_TEXT];
    PV_TRY(read_token(file, text, err));
    PV_TRY(api_init(&api, config, store, NULL, err));
    enum pv_code code = api_authenticate(&api, text, who, err);
    api_fini(&api);
    sodium_memzero(text, sizeof text);
    PV_TRY(code);
    if ((who->scopes & SCOPE_WRITE) == 0)
        return pv_fail(err, PV_E_FORBIDDEN, "the token lacks the scope write");
    return PV_OK;
}

static enum pv_code ask_owner(const struct config *config,
                              const char *team,
                              struct principal *who,
                              struct pv_error *err)
{
    *who = (struct principal){.scopes = SCOPE_READ | SCOPE_WRITE};
    (void)snprintf(who->actor, sizeof who->actor, "command line");
    enum pv_code code = store_owner_team_find(args_owner_url(config), team, who->team_id, err);
    if (code == PV_E_NOT_FOUND) {
        pv_error_clear(err);
        return pv_fail(err, code,
                       "there is no team of that name: `provisord token create` makes it");
    }
    return code;
}

/* --- the import --- */

static atomic_bool stop;

/* The first signal lets what is begun come to its end; a second one ends the process at once. */
static void ask_stop(int signal_number)
{
    (void)signal_number;
    atomic_store(&stop, true);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = ask_stop, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* Where an item is reported: on the streams, and in what is kept of the import. */
struct observers {
    struct report *report;
    struct import_operation *import; /* NULL: nothing is kept */
};

static void import_notify(void *context, const struct log_result *result)
{
    const struct observers *observers = context;
    if (observers->import != NULL)
        summary_item(&observers->import->summary, result);
    report_item(observers->report, result);
}

static void import_follow(struct bulk *bulk, const struct observers *observers)
{
    for (;;) {
        struct log_progress progress = bulk_progress(bulk);
        if (observers->import != NULL && !import_operation_report(observers->import, &progress))
            atomic_store(&stop, true);
        if (progress.done)
            return;
        report_progress(observers->report, &progress, clock_monotonic_ns());
        clock_sleep_ms(20);
    }
}

/* false: it could not be begun, or the database was away for too long; err says why. */
static bool do_import(const struct bulk_options *wanted,
                      struct observers *observers,
                      const struct find *find,
                      struct pv_error *err)
{
    struct bulk_options options = *wanted;
    bool lost = true;
    options.notify = import_notify;
    options.context = observers;
    struct bulk *bulk;
    if (bulk_start(&options, find, &bulk, err) != PV_OK)
        return false;
    import_follow(bulk, observers);
    bulk_join(bulk, &lost, err);
    return !lost;
}

static void end_operation(struct import_operation *import, bool lost, const struct pv_error *why)
{
    struct pv_error err = {.code = PV_OK};
    bool cancelled = import->cancelled;
    if (import_operation_end(import, atomic_load(&stop), lost ? why : NULL, &err) != PV_OK)
        fprintf(stderr, "provisord: import: its operation could not be ended: %s\n", err.detail);
    else if (cancelled)
        fputs("provisord: import: its operation was cancelled\n", stderr);
}

static int run_import(const struct bulk_options *options,
                      const struct import_request *request,
                      const struct find *find)
{
    static struct import_operation import;
    struct report report;
    struct observers observers = {&report, NULL};
    struct pv_error err = {.code = PV_OK};
    if (!request->dry_run) {
        if (import_operation_begin(&import, options, request->paths, request->n_paths, find,
                                   &err) != PV_OK)
            return import_fail(options->config, &err);
        observers.import = &import;
        if (!request->quiet)
            fprintf(stderr, "provisord: import: operation %s\n", import.local.held.key.id);
    }
    report_init(&report, "provisord: import", request->json ? REPORT_JSON : REPORT_TEXT,
                request->quiet, request->dry_run);
    report_add(&report, find->n, find->bytes);
    bool lost = !do_import(options, &observers, find, &err);
    if (observers.import != NULL)
        end_operation(observers.import, lost, &err);
    bool stopped = atomic_load(&stop);
    report_end(&report, stopped || lost, clock_monotonic_ns());
    if (lost)
        return import_fail(options->config, &err);
    if (report.failed)
        fputs("provisord: import: the summary could not be written\n", stderr);
    bool all = !stopped && !report.failed && report.outcomes[LOG_REJECTED] == 0 &&
               !report_found_no_log(&report);
    return all ? COMMAND_DONE : COMMAND_FAILED;
}

static enum pv_code
find_all(const struct import_request *request, struct find *find, struct pv_error *err)
{
    for (size_t i = 0; i < request->n_paths; i++)
        PV_TRY(find_add(find, request->paths[i], err));
    return PV_OK;
}

static int import_with(struct store *store,
                       const struct config *config,
                       const struct import_request *request,
                       struct run_label *labels)
{
    struct pv_error err = {.code = PV_OK};
    struct find find = {.items = NULL};
    char id[37];
    struct bulk_options options = {.config = config,
                                   .store = store,
                                   .request_id = id,
                                   .application = request->application,
                                   .labels = labels,
                                   .n_labels = request->n_labels,
                                   .threads = request->threads,
                                   .dry_run = request->dry_run,
                                   .stop = &stop};
    clock_uuid7(id);
    enum pv_code code = store_ready(store, NULL, &err);
    if (code == PV_OK)
        code = request->team != NULL
                   ? ask_owner(config, request->team, &options.who, &err)
                   : ask_token(config, store, request->token_file, &options.who, &err);
    if (code == PV_OK)
        code = find_all(request, &find, &err);
    int status = code == PV_OK ? run_import(&options, request, &find) : import_fail(config, &err);
    find_fini(&find);
    return status;
}

int command_import(int argc, char *argv[])
{
    static struct import_request request;
    static struct run_label labels[LABELS_MAX];
    struct config config;
    int status = read_request(argc, argv, &request, &config);
    if (status != COMMAND_DONE)
        return status;
    const char *wrong = read_labels(&request, &config, labels);
    if (wrong != NULL)
        return import_usage(wrong);
    log_set_level(LOG_ERROR); /* its lines would run into the progress */
    catch_signals();
    struct pv_error err = {.code = PV_OK};
    struct store *store = NULL;
    struct store_options options = {.conninfo = config.database_url,
                                    .connections_max = (unsigned)request.threads + 1,
                                    .wait_ms = (unsigned)config.database_wait_ms,
                                    .statement_timeout_ms = (unsigned)config.statement_timeout_ms};
    quotas_of_config(&config, options.quotas);
    if (store_open(&options, &store, &err) != PV_OK)
        return import_fail(&config, &err);
    status = import_with(store, &config, &request, labels);
    store_close(store);
    return status;
}
