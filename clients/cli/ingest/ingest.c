#include "cli/ingest/ingest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/instant.h"
#include "cli/http/retry.h"
#include "cli/ingest/batch.h"
#include "cli/ingest/local_files.h"
#include "cli/ingest/places.h"
#include "threads/clock.h"

enum { LATER_S = 1, AWAY_S_MIN = 1, AWAY_S_MAX = 60 };

struct ingest {
    const struct ingest_options *options;
    struct places places;
    struct journal *journal; /* NULL: none */
    struct watch *watch;     /* of a watch */
    struct watch_paths changed;
    struct watch_paths later; /* they have not been quiet for long enough */
    struct report report;
    bool failed; /* besides logs that were rejected */
    bool journal_failed;
};

/* --- the journal --- */

/* Where the state of programs belongs (XDG Base Directory Specification). */
static bool usual_state(const struct ingest *ingest, char file[PATH_MAX], struct failure *failure)
{
    char id[17];
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    places_identify(&ingest->places, id);
    if (state != NULL && state[0] == '/') {
        (void)snprintf(file, PATH_MAX, "%s/provisor/ingest-%s.journal", state, id);
        return true;
    }
    if (home != NULL && home[0] == '/') {
        (void)snprintf(file, PATH_MAX, "%s/.local/state/provisor/ingest-%s.journal", home, id);
        return true;
    }
    return fail(failure, EXIT_USAGE,
                "the journal has no place without HOME: name one with --state FILE");
}

static bool open_journal(struct ingest *ingest, struct failure *failure)
{
    const struct ingest_options *options = ingest->options;
    char file[PATH_MAX];
    bool wanted = options->state != NULL || options->watch || ingest->places.n_remote > 0;
    if (!wanted)
        return true;
    if (options->state != NULL)
        (void)snprintf(file, sizeof file, "%s", options->state);
    else if (!usual_state(ingest, file, failure))
        return false;
    if (options->dry_run && access(file, F_OK) != 0)
        return true; /* none is made for it */
    return journal_open(file, options->settings->url, &ingest->journal, failure);
}

/* --- what of a list is sent --- */

static bool was_sent(const struct ingest *ingest, const struct ingest_log *log)
{
    return ingest->journal != NULL && !ingest->options->again &&
           journal_has(ingest->journal, log->name, log->identity);
}

/* A name that carries no sign of its end may be that of a file which grows. Instants to come are those
 * of another clock. */
static bool is_quiet(const struct ingest *ingest, const struct ingest_log *log)
{
    if (log->source != ingest->places.local || log->finished || log->unfinished ||
        log->modified_us == INSTANT_UNKNOWN)
        return true;
    double age_s = (double)(clock_wall_us() - log->modified_us) / 1e6;
    return age_s >= ingest->options->quiet_s || age_s < -ingest->options->quiet_s;
}

static bool leave_unfinished(const struct ingest *ingest, struct ingest_log *log)
{
    if (!log->unfinished || ingest->options->unfinished_too)
        return false;
    log->kind = FIND_SKIPPED;
    log->reason = "still being written: --include-unfinished sends it all the same";
    return true;
}

static bool keep_of_watch(struct ingest *ingest, struct ingest_log *log)
{
    if (log->kind == FIND_SKIPPED || leave_unfinished(ingest, log))
        return false;
    if (log->kind != FIND_LOG || is_quiet(ingest, log))
        return true;
    (void)watch_paths_add(&ingest->later, log->name, false); /* or the next look at all finds it */
    return false;
}

static void choose(struct ingest *ingest, struct log_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct ingest_log *log = &list->items[i];
        if (log->kind == FIND_LOG && was_sent(ingest, log)) {
            ingest->report.sent_before += !ingest->options->watch;
            continue;
        }
        if (ingest->options->watch && !keep_of_watch(ingest, log))
            continue;
        (void)leave_unfinished(ingest, log);
        list->items[n++] = *log;
    }
    list->n = n;
}

static void announce(struct ingest *ingest, const struct log_list *list)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].kind == FIND_LOG && list->items[i].bytes > 0)
            bytes += (uint64_t)list->items[i].bytes;
    report_add(&ingest->report, list->n, bytes);
}

/* --- one batch --- */

static void say_failure(struct ingest *ingest, const struct failure *failure)
{
    char text[sizeof failure->what + sizeof failure->next + 16];
    (void)snprintf(text, sizeof text, "%s%s%s", failure->what,
                   failure->next[0] == '\0' ? "" : "\n          ", failure->next);
    report_say(&ingest->report, text);
}

static enum batch_end
send_list(struct ingest *ingest, const struct log_list *list, struct failure *failure)
{
    const struct ingest_options *options = ingest->options;
    const struct batch_options batch = {.settings = options->settings,
                                        .request = {options->path, options->query},
                                        .threads = options->threads,
                                        .report = &ingest->report,
                                        .journal = ingest->journal,
                                        .stop = options->stop,
                                        .dry_run = options->dry_run,
                                        .repeats = options->watch};
    announce(ingest, list);
    return batch_run(&batch, list, &ingest->journal_failed, failure);
}

static size_t count_logs(const struct log_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += list->items[i].kind == FIND_LOG;
    return n;
}

static bool check_one(const struct ingest *ingest, const struct log_list *list)
{
    return !ingest->options->names_run || count_logs(list) <= 1;
}

static bool ingest_once(struct ingest *ingest, struct failure *failure)
{
    struct log_list list;
    struct failure why = {.status = EXIT_DONE};
    log_list_init(&list);
    bool listed = places_list(&ingest->places, &list, &why);
    bool stopped = atomic_load(ingest->options->stop);
    choose(ingest, &list);
    bool one = check_one(ingest, &list);
    if (!one)
        (void)fail(failure, EXIT_USAGE, "--advice is that of one run, and there are %zu logs",
                   count_logs(&list));
    if (!listed && !stopped)
        say_failure(ingest, &why);
    ingest->failed = ingest->failed || !listed || stopped;
    if (one) {
        struct failure end_why = {.status = EXIT_DONE};
        enum batch_end end = send_list(ingest, &list, &end_why);
        ingest->failed = ingest->failed || end != BATCH_DONE;
        if (end == BATCH_AWAY || end == BATCH_REFUSED)
            say_failure(ingest, &end_why);
    }
    log_list_fini(&list);
    return one;
}

/* --- a watch --- */

/* What happened since, and what was left for later. */
static void list_changed(struct ingest *ingest, struct log_list *list)
{
    for (size_t i = 0; i < ingest->later.n; i++)
        (void)watch_paths_add(&ingest->changed, ingest->later.items[i].path, false);
    watch_paths_clear(&ingest->later);
    watch_paths_unite(&ingest->changed);
    for (size_t i = 0; i < ingest->changed.n; i++) {
        const struct watch_path *changed = &ingest->changed.items[i];
        size_t before = list->n;
        if (!log_list_add_path(list, ingest->places.local, changed->path, NULL))
            return;
        if (list->n == before + 1 && strcmp(list->items[before].name, changed->path) == 0)
            list->items[before].finished = list->items[before].finished || changed->whole;
    }
}

static int compare_logs(const void *a, const void *b)
{
    const struct ingest_log *x = a;
    const struct ingest_log *y = b;
    return strcmp(x->name, y->name);
}

/* A folder and a file in it may both have changed. */
static void drop_doubles(struct log_list *list)
{
    size_t n = 0;
    if (list->n > 0)
        qsort(list->items, list->n, sizeof *list->items, compare_logs);
    for (size_t i = 0; i < list->n; i++)
        if (n == 0 || strcmp(list->items[n - 1].name, list->items[i].name) != 0)
            list->items[n++] = list->items[i];
    list->n = n;
}

/* What is gone again is no log that cannot be read. */
static void drop_unreadable(struct log_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].kind != FIND_UNREADABLE)
            list->items[n++] = list->items[i];
    list->n = n;
}

static enum batch_end look(struct ingest *ingest, bool all)
{
    struct log_list list;
    struct failure failure = {.status = EXIT_DONE};
    log_list_init(&list);
    if (all) {
        watch_paths_clear(&ingest->later);
        places_watch(&ingest->places, ingest->watch);
        if (!places_list(&ingest->places, &list, &failure) && !atomic_load(ingest->options->stop))
            say_failure(ingest, &failure);
    } else {
        list_changed(ingest, &list);
        drop_unreadable(&list);
    }
    watch_paths_clear(&ingest->changed);
    drop_doubles(&list);
    choose(ingest, &list);
    failure = (struct failure){.status = EXIT_DONE};
    enum batch_end end = send_list(ingest, &list, &failure);
    if (end == BATCH_AWAY || end == BATCH_REFUSED)
        say_failure(ingest, &failure);
    log_list_fini(&list);
    return end;
}

/* Until something is to be done; answers whether all is to be looked at. */
static bool wait_for_work(struct ingest *ingest, uint64_t next_ns)
{
    const atomic_bool *stop = ingest->options->stop;
    for (;;) {
        uint64_t now = clock_monotonic_ns();
        if (now >= next_ns)
            return true;
        double seconds = (double)(next_ns - now) / 1e9;
        bool later = ingest->later.n > 0;
        if (later && seconds > LATER_S)
            seconds = LATER_S;
        if (watch_wait(ingest->watch, seconds, stop, &ingest->changed))
            return true;
        if (ingest->changed.n > 0 || later || atomic_load(stop))
            return false;
    }
}

static void ingest_watching(struct ingest *ingest)
{
    const struct ingest_options *options = ingest->options;
    double away_s = AWAY_S_MIN;
    uint64_t next = 0;
    bool all = true;
    while (!atomic_load(options->stop)) {
        uint64_t begun = clock_monotonic_ns();
        enum batch_end end = look(ingest, all);
        if (end == BATCH_REFUSED) {
            ingest->failed = true;
            return;
        }
        if (end == BATCH_AWAY) {
            (void)retry_sleep(away_s, options->stop);
            away_s = 2 * away_s < AWAY_S_MAX ? 2 * away_s : AWAY_S_MAX;
            all = true;
            continue;
        }
        away_s = AWAY_S_MIN;
        if (all)
            next = begun + (uint64_t)(options->rescan_s * 1e9);
        all = wait_for_work(ingest, next);
    }
}

/* --- all of it --- */

static enum exit_status end_ingest(struct ingest *ingest)
{
    const struct ingest_options *options = ingest->options;
    struct report *report = &ingest->report;
    bool stopped = atomic_load(options->stop);
    if (options->watch) {
        report->items = 0;
        for (size_t i = 0; i < LOG_OUTCOMES; i++)
            report->items += report->outcomes[i];
    }
    report_end(report, stopped && !options->watch, clock_monotonic_ns());
    bool lines = !report->failed && !ingest->journal_failed && !ingest->failed;
    if (options->watch)
        return lines ? EXIT_DONE : EXIT_FAILED;
    bool all = report->outcomes[LOG_REJECTED] == 0 && !report_found_no_log(report);
    return lines && all ? EXIT_DONE : EXIT_FAILED;
}

static enum exit_status ingest_opened(struct ingest *ingest, struct failure *failure)
{
    const struct ingest_options *options = ingest->options;
    if (options->watch && ingest->places.standard_input)
        (void)fail(failure, EXIT_USAGE, "standard input cannot be watched");
    if (failure->status != EXIT_DONE || !open_journal(ingest, failure))
        return failure->status;
    ingest->watch = options->watch ? watch_open() : NULL;
    if (options->watch && ingest->watch == NULL) {
        (void)fail_memory(failure);
        return failure->status;
    }
    report_init(&ingest->report, "provisor: ingest", options->form, options->quiet,
                options->dry_run);
    ingest->report.run_ids = true;
    bool sound = true;
    if (options->watch)
        ingest_watching(ingest);
    else
        sound = ingest_once(ingest, failure);
    return sound ? end_ingest(ingest) : failure->status;
}

enum exit_status ingest_run(const struct ingest_options *options, struct failure *failure)
{
    struct ingest ingest = {.options = options};
    enum exit_status status = places_open(&ingest.places, options, failure)
                                  ? ingest_opened(&ingest, failure)
                                  : failure->status;
    watch_paths_clear(&ingest.changed);
    watch_paths_clear(&ingest.later);
    watch_close(ingest.watch);
    journal_close(ingest.journal);
    places_close(&ingest.places);
    return status;
}
