/*
 * Lists a source, and reads what it lists, for tests/cli/test_sources.py: JSON lines on standard
 * output, of each object {"name", ..., "read": {"bytes", "sha256"}}, of what fails
 * {"failure": {"status", "what", "next"}}, and at the end {"peak_rss_kib"}. Exit status 1 when
 * something failed.
 *
 *     list_and_read URL [--read] [--threads N] [--stop-after N] [--chunk BYTES] [--pause-ms MS]
 *                       [--out FOLDER] [--endpoint URL] [--host-style] [--anonymous] [--page-size N]
 *                       [--ca-file FILE] [--attempts N] [--wait-max-s S] [--first-s S] [--stall-s S]
 *                       [--connect-s S] [--unfinished] [--limit N] [--min-end INSTANT] [--user NAME]
 *                       [--name NAME --identity TEXT --bytes N] [--forward URL]
 *
 * SIGTERM sets `stop`. --forward uploads each object to URL/INDEX, read while libcurl asks for what to send.
 */
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/instant.h"
#include "base/json_writer.h"
#include "base/vector.h"
#include "cli/sources/history_server.h"
#include "cli/sources/s3.h"
#include "cli/sources/webhdfs.h"
#include "threads/clock.h"

struct program {
    const char *url;
    bool read;
    size_t threads;
    size_t stop_after;
    size_t chunk;
    long pause_ms;
    const char *out;
    const char *forward;
    struct s3_options s3;
    struct history_options history;
    struct webhdfs_options webhdfs;
    struct fetch_options fetching;
    struct source_object one; /* to read without listing */
    struct source *source;
    struct arena arena;
    VECTOR(struct source_object) objects;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t printing;
};

static void print(struct program *p, struct writer *w)
{
    writer_end_line(w);
    size_t n = 0;
    const char *text = writer_finish(w, &n);
    pthread_mutex_lock(&p->printing);
    if (text == NULL || fwrite(text, 1, n, stdout) != n)
        abort();
    pthread_mutex_unlock(&p->printing);
}

static void print_failure(struct program *p, const struct failure *failure, const char *name)
{
    struct arena arena;
    struct writer w;
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    writer_begin_object(&w);
    writer_member_string(&w, "name", name);
    writer_member_object(&w, "failure");
    writer_member_integer(&w, "status", failure->status);
    writer_member_string(&w, "what", failure->what);
    writer_member_string(&w, "next", failure->next);
    writer_end_object(&w);
    writer_end_object(&w);
    print(p, &w);
    arena_fini(&arena);
    atomic_store(&p->failed, true);
}

static void write_object(struct writer *w, const struct source_object *object)
{
    writer_member_string(w, "name", object->name);
    writer_member_string(w, "folder", object->folder);
    writer_member_string(w, "file", object->file);
    writer_member_string(w, "identity", object->identity);
    writer_member_count(w, "bytes", object->bytes);
    writer_member_instant(w, "modified", object->modified_us);
    writer_member_boolean(w, "unfinished", object->unfinished);
}

/* Reads it to the end; true: all of it. */
static bool hash(struct program *p,
                 const struct source_object *object,
                 size_t index,
                 char hex[65],
                 int64_t *bytes,
                 struct failure *failure)
{
    struct source_stream *stream = NULL;
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    char *piece = malloc(p->chunk);
    char path[4096];
    FILE *file = NULL;
    if (p->out != NULL) {
        (void)snprintf(path, sizeof path, "%s/%zu", p->out, index);
        file = fopen(path, "wb");
    }
    size_t got = 0;
    bool read = piece != NULL && source_read_open(p->source, object, &stream, failure);
    while (read && (read = source_read(stream, piece, p->chunk, &got, failure)) && got > 0) {
        crypto_hash_sha256_update(&state, (unsigned char *)piece, got);
        *bytes += (int64_t)got;
        if (file != NULL && fwrite(piece, 1, got, file) != got)
            abort();
        if (p->pause_ms > 0)
            clock_sleep_ms(p->pause_ms);
    }
    /* The end stays the end. */
    if (read && (!source_read(stream, piece, p->chunk, &got, failure) || got != 0))
        abort();
    crypto_hash_sha256_final(&state, digest);
    sodium_bin2hex(hex, 65, digest, sizeof digest);
    source_read_close(stream);
    free(piece);
    if (file != NULL && fclose(file) != 0)
        abort();
    return read;
}

struct upload {
    struct source_stream *stream;
    struct failure failure;
    int64_t bytes;
};

static size_t next_piece(char *bytes, size_t size, size_t count, void *context)
{
    struct upload *u = context;
    size_t got = 0;
    if (!source_read(u->stream, bytes, size * count, &got, &u->failure))
        return CURL_READFUNC_ABORT;
    u->bytes += (int64_t)got;
    return got;
}

static bool forward(struct program *p,
                    const struct source_object *object,
                    size_t index,
                    int64_t *bytes,
                    struct failure *failure)
{
    struct upload u = {0};
    if (!source_read_open(p->source, object, &u.stream, failure))
        return false;
    char url[4096];
    (void)snprintf(url, sizeof url, "%s/%zu", p->forward, index);
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, next_piece);
    curl_easy_setopt(easy, CURLOPT_READDATA, &u);
    CURLcode code = curl_easy_perform(easy);
    curl_easy_cleanup(easy);
    source_read_close(u.stream);
    *bytes = u.bytes;
    *failure = u.failure;
    return code == CURLE_OK || fail(failure, EXIT_FAILED, "%s", curl_easy_strerror(code));
}

static void read_one(struct program *p, size_t index)
{
    const struct source_object *object = &p->objects.items[index];
    struct failure failure = {0};
    char hex[65] = "";
    int64_t bytes = 0;
    if (!(p->forward != NULL ? forward(p, object, index, &bytes, &failure)
                             : hash(p, object, index, hex, &bytes, &failure))) {
        print_failure(p, &failure, object->name);
        return;
    }
    struct arena arena;
    struct writer w;
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    writer_begin_object(&w);
    write_object(&w, object);
    writer_member_object(&w, "read");
    writer_member_integer(&w, "bytes", bytes);
    writer_member_string(&w, "sha256", hex);
    writer_end_object(&w);
    writer_end_object(&w);
    print(p, &w);
    arena_fini(&arena);
}

static void *read_some(void *context)
{
    struct program *p = context;
    for (size_t i = atomic_fetch_add(&p->next, 1); i < p->objects.n;
         i = atomic_fetch_add(&p->next, 1))
        read_one(p, i);
    return NULL;
}

static void read_all(struct program *p)
{
    pthread_t threads[16];
    size_t n = p->threads < 16 ? p->threads : 16;
    for (size_t i = 0; i < n; i++) {
        if (pthread_create(&threads[i], NULL, read_some, p) != 0)
            abort();
    }
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void print_object(struct program *p, const struct source_object *object)
{
    struct arena arena;
    struct writer w;
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    writer_begin_object(&w);
    write_object(&w, object);
    writer_end_object(&w);
    print(p, &w);
    arena_fini(&arena);
}

static bool found(void *context, const struct source_object *object)
{
    struct program *p = context;
    if (p->read) {
        struct source_object *copy = vector_add(NULL, &p->objects);
        if (copy == NULL)
            abort();
        *copy = *object;
        copy->name = arena_strdup(&p->arena, object->name);
        copy->folder = arena_strdup(&p->arena, object->folder);
        copy->file = arena_strdup(&p->arena, object->file);
        copy->identity = arena_strdup(&p->arena, object->identity);
    } else
        print_object(p, object);
    p->stop_after--;
    return p->stop_after > 0;
}

static bool take_text(struct program *p, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **where;
    } texts[] = {
        {"--out", &p->out},
        {"--forward", &p->forward},
        {"--endpoint", &p->s3.endpoint},
        {"--ca-file", &p->fetching.ca_file},
        {"--user", &p->webhdfs.user},
        {"--name", &p->one.name},
        {"--identity", &p->one.identity},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].name, name) == 0) {
            *texts[i].where = value;
            return true;
        }
    }
    return strcmp(name, "--min-end") == 0 && instant_parse(value, &p->history.min_end_us);
}

static bool take_number(struct program *p, const char *name, const char *value)
{
    double number = strtod(value, NULL);
    const struct {
        const char *name;
        double *where;
    } seconds[] = {
        {"--wait-max-s", &p->fetching.retry.wait_s_max},
        {"--first-s", &p->fetching.retry.first_s},
        {"--stall-s", &p->fetching.stall_timeout_s},
        {"--connect-s", &p->fetching.connect_timeout_s},
    };
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        if (strcmp(seconds[i].name, name) == 0) {
            *seconds[i].where = number;
            return true;
        }
    }
    if (strcmp(name, "--threads") == 0)
        p->threads = (size_t)number;
    else if (strcmp(name, "--stop-after") == 0)
        p->stop_after = (size_t)number;
    else if (strcmp(name, "--chunk") == 0)
        p->chunk = (size_t)number;
    else if (strcmp(name, "--pause-ms") == 0)
        p->pause_ms = (long)number;
    else if (strcmp(name, "--page-size") == 0)
        p->s3.page_size = (unsigned)number;
    else if (strcmp(name, "--attempts") == 0)
        p->fetching.retry.attempts_max = (unsigned)number;
    else if (strcmp(name, "--limit") == 0)
        p->history.limit = (unsigned)number;
    else if (strcmp(name, "--bytes") == 0)
        p->one.bytes = (int64_t)number;
    else
        return false;
    return true;
}

static bool take_flag(struct program *p, const char *name)
{
    if (strcmp(name, "--read") == 0)
        p->read = true;
    else if (strcmp(name, "--host-style") == 0)
        p->s3.style = S3_STYLE_HOST;
    else if (strcmp(name, "--anonymous") == 0)
        p->s3.anonymous = true;
    else if (strcmp(name, "--unfinished") == 0)
        p->history.unfinished_too = true;
    else
        return false;
    return true;
}

static atomic_bool stop;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&stop, true);
}

static void take_arguments(struct program *p, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            p->url = argv[i];
        else if (take_flag(p, argv[i]))
            continue;
        else if (i + 1 < argc &&
                 (take_text(p, argv[i], argv[i + 1]) || take_number(p, argv[i], argv[i + 1])))
            i++;
        else {
            fprintf(stderr, "list_and_read: %s is no option\n", argv[i]);
            exit(2);
        }
    }
}

static bool open_source(struct program *p, struct failure *failure)
{
    if (strncmp(p->url, "s3", 2) == 0)
        return source_s3_open(p->url, &p->s3, &p->fetching, &p->source, failure);
    if (strstr(p->url, "webhdfs://") != NULL)
        return source_webhdfs_open(p->url, &p->webhdfs, &p->fetching, &p->source, failure);
    return source_history_open(p->url, &p->history, &p->fetching, &p->source, failure);
}

static void run(struct program *p)
{
    struct failure failure = {0};
    if (!open_source(p, &failure)) {
        print_failure(p, &failure, NULL);
        return;
    }
    if (p->one.name != NULL) {
        p->read = true;
        p->one.folder = p->one.file = "";
        (void)found(p, &p->one);
    } else if (!source_list(p->source, found, p, &failure))
        print_failure(p, &failure, NULL);
    if (p->read)
        read_all(p);
    source_close(p->source);
}

/* Of this program alone: getrusage begins with what the parent held when it forked. */
static long peak_rss_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    }
    if (status == NULL || fclose(status) != 0)
        abort();
    return kib;
}

int main(int argc, char **argv)
{
    struct program p = {.url = "",
                        .threads = 1,
                        .stop_after = SIZE_MAX,
                        .chunk = 64 * 1024,
                        .history = history_options_default(),
                        .fetching = fetch_options_default(),
                        .one = {.identity = "", .bytes = -1}};
    arena_init(&p.arena, 0);
    if (sodium_init() < 0 || pthread_mutex_init(&p.printing, NULL) != 0)
        return 2;
    (void)signal(SIGTERM, on_signal);
    p.fetching.stop = &stop;
    take_arguments(&p, argc, argv);
    run(&p);
    printf("{\"peak_rss_kib\": %ld}\n", peak_rss_kib());
    free(p.objects.items);
    arena_fini(&p.arena);
    return atomic_load(&p.failed) ? 1 : 0;
}
