#include "cli/ingest/batch.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads/clock.h"

enum { FOLLOW_EVERY_MS = 20 };

struct batch {
    const struct batch_options *options;
    const struct log_list *list;
    atomic_size_t next;
    atomic_size_t reported;
    atomic_uint_least64_t bytes;
    atomic_bool over; /* nothing more is begun */
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a thread */
    size_t working;
    enum batch_end end;
    struct failure failure;
    bool journal_failed;
};

static bool is_over(struct batch *batch)
{
    return atomic_load(&batch->over) || atomic_load(batch->options->stop);
}

static void end_batch(struct batch *batch, enum batch_end end, const struct failure *failure)
{
    pthread_mutex_lock(&batch->lock);
    if (batch->end == BATCH_DONE) {
        batch->end = end;
        batch->failure = *failure;
    }
    pthread_mutex_unlock(&batch->lock);
    atomic_store(&batch->over, true);
}

/* Said once: the logs go on without it. */
static void say_journal_failed(struct batch *batch, const struct failure *failure)
{
    pthread_mutex_lock(&batch->lock);
    bool first = !batch->journal_failed;
    batch->journal_failed = true;
    pthread_mutex_unlock(&batch->lock);
    if (first)
        report_say(batch->options->report, failure->what);
}

static void
keep(struct batch *batch, const struct ingest_log *log, const struct log_result *result, bool final)
{
    struct journal *journal = batch->options->journal;
    struct failure failure = {.status = EXIT_DONE};
    if (final && journal != NULL && log->identity[0] != '\0' &&
        !journal_add(journal, log->name, log->identity, log_outcome_words[result->outcome],
                     result->run_id, &failure))
        say_journal_failed(batch, &failure);
}

/* What waits for the service, or is read from elsewhere, ends when the user stops it. */
static bool is_broken_off(enum send_verdict verdict, const struct log_result *result)
{
    return verdict == SEND_AWAY ||
           (verdict == SEND_PASSED && strcmp(result->code, "unreadable") == 0);
}

/* false: it has no outcome. *final: it will have no other one. */
static bool take_log(struct batch *batch,
                     struct remote *remote,
                     const struct ingest_log *log,
                     struct log_result *result,
                     bool *final)
{
    struct failure failure = {.status = EXIT_DONE};
    if (batch->options->dry_run) {
        log_result_say(result, LOG_PENDING, "", "");
        return true;
    }
    enum send_verdict verdict =
        send_log(remote, &batch->options->request, log, &batch->bytes, result, &failure);
    if (atomic_load(batch->options->stop) && is_broken_off(verdict, result))
        return false;
    if (verdict == SEND_AWAY || verdict == SEND_REFUSED) {
        end_batch(batch, verdict == SEND_AWAY ? BATCH_AWAY : BATCH_REFUSED, &failure);
        return false;
    }
    *final = verdict == SEND_FINAL;
    keep(batch, log, result, *final);
    return true;
}

/* What is tried again and again, and fails in the same way, is one line. */
static bool
was_said(struct batch *batch, const struct ingest_log *log, const struct log_result *result)
{
    struct journal *journal = batch->options->journal;
    char name[PATH_MAX + 16];
    char said[sizeof result->reason + 64];
    if (!batch->options->repeats || journal == NULL)
        return false;
    (void)snprintf(name, sizeof name, "said\n%s", log->name);
    (void)snprintf(said, sizeof said, "%s\n%s", log->identity, result->reason);
    if (journal_has(journal, name, said))
        return true;
    (void)journal_remember(journal, name, said);
    return false;
}

static void take_item(struct batch *batch, struct remote *remote, const struct ingest_log *log)
{
    struct log_result result = {.name = log->name,
                                .bytes = log->bytes < 0 ? 0 : (uint64_t)log->bytes};
    bool final = false;
    if (log->kind == FIND_LOG) {
        if (!take_log(batch, remote, log, &result, &final))
            return;
    } else if (log->kind == FIND_SKIPPED) {
        log_result_say(&result, LOG_IGNORED, log->unfinished ? log_unfinished_code : "no_log",
                       log->reason);
    } else {
        log_result_say(&result, LOG_REJECTED, "unreadable", log->reason);
    }
    atomic_fetch_add(&batch->reported, 1);
    if (final || !was_said(batch, log, &result))
        report_item(batch->options->report, &result);
}

static void send_items(struct batch *batch)
{
    struct failure failure = {.status = EXIT_DONE};
    struct remote *remote = NULL;
    if (!remote_open(batch->options->settings, batch->options->stop, &remote, &failure)) {
        end_batch(batch, BATCH_REFUSED, &failure);
        return;
    }
    remote_finish_attempts(remote);
    while (!is_over(batch)) {
        size_t i = atomic_fetch_add(&batch->next, 1);
        if (i >= batch->list->n)
            break;
        take_item(batch, remote, &batch->list->items[i]);
    }
    remote_close(remote);
}

static void *batch_work(void *argument)
{
    struct batch *batch = argument;
    send_items(batch);
    pthread_mutex_lock(&batch->lock);
    batch->working--;
    (void)pthread_cond_signal(&batch->ended);
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

static bool is_working(struct batch *batch)
{
    struct timespec until;
    pthread_mutex_lock(&batch->lock);
    if (batch->working > 0) {
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)FOLLOW_EVERY_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&batch->ended, &batch->lock, &until);
    }
    bool working = batch->working > 0;
    pthread_mutex_unlock(&batch->lock);
    return working;
}

static void follow(struct batch *batch)
{
    while (is_working(batch)) {
        struct log_progress progress = {.items = atomic_load(&batch->reported),
                                        .bytes = atomic_load(&batch->bytes)};
        if (!batch->options->repeats)
            report_progress(batch->options->report, &progress, clock_monotonic_ns());
    }
}

static void run_threads(struct batch *batch, size_t threads, pthread_t *ids)
{
    size_t n = 0;
    batch->working = threads;
    while (n < threads && pthread_create(&ids[n], NULL, batch_work, batch) == 0)
        n++;
    pthread_mutex_lock(&batch->lock);
    batch->working -= threads - n;
    pthread_mutex_unlock(&batch->lock);
    if (n == 0 && threads > 0) {
        struct failure failure = {.status = EXIT_DONE};
        (void)fail(&failure, EXIT_FAILED, "no thread could be started");
        end_batch(batch, BATCH_REFUSED, &failure);
    }
    follow(batch);
    for (size_t i = 0; i < n; i++)
        (void)pthread_join(ids[i], NULL);
}

enum batch_end batch_run(const struct batch_options *options,
                         const struct log_list *list,
                         bool *journal_failed,
                         struct failure *failure)
{
    size_t threads = options->threads < list->n ? options->threads : list->n;
    struct batch *batch = calloc(1, sizeof *batch);
    pthread_t *ids = calloc(threads == 0 ? 1 : threads, sizeof *ids);
    enum batch_end end = BATCH_REFUSED;
    if (batch == NULL || ids == NULL) {
        (void)fail_memory(failure);
    } else {
        batch->options = options;
        batch->list = list;
        (void)pthread_mutex_init(&batch->lock, NULL);
        (void)pthread_cond_init(&batch->ended, NULL);
        run_threads(batch, threads, ids);
        end = batch->end == BATCH_DONE && atomic_load(options->stop) ? BATCH_STOPPED : batch->end;
        if (batch->end != BATCH_DONE)
            *failure = batch->failure;
        *journal_failed = *journal_failed || batch->journal_failed;
        (void)pthread_cond_destroy(&batch->ended);
        (void)pthread_mutex_destroy(&batch->lock);
    }
    free(batch);
    free(ids);
    return end;
}
