#include "cli/ingest/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum { COMPACT_LINES_MIN = 1000, OPEN_TRIES = 10 };

static const char heading[] = "provisor ingest journal 1";

/* A log: hashes of its name and of the identity it had last. A log is taken for another only where
 * both are equal. */
struct entry {
    uint64_t name; /* 0: free */
    uint64_t identity;
    bool written; /* has a line */
    bool copied;  /* into the file that is being written anew */
};

struct journal {
    pthread_mutex_t lock;
    char file[PATH_MAX];
    char *about;
    int fd;
    struct entry *entries; /* open addressing */
    size_t n;
    size_t capacity; /* a power of two */
    size_t lines;
    size_t alive; /* lines that count */
};

/* --- what is in memory --- */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = hash_text(HASH_START, text);
    hash ^= hash >> 32;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
    return hash == 0 ? 1 : hash;
}

static struct entry *find_entry(struct entry *entries, size_t capacity, uint64_t name)
{
    size_t at = (size_t)name & (capacity - 1);
    while (entries[at].name != 0 && entries[at].name != name)
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

static bool grow(struct journal *journal)
{
    if (2 * journal->n < journal->capacity)
        return true;
    size_t capacity = journal->capacity == 0 ? 1024 : 2 * journal->capacity;
    struct entry *entries = calloc(capacity, sizeof *entries);
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < journal->capacity; i++)
        if (journal->entries[i].name != 0)
            *find_entry(entries, capacity, journal->entries[i].name) = journal->entries[i];
    free(journal->entries);
    journal->entries = entries;
    journal->capacity = capacity;
    return true;
}

static bool set_entry(struct journal *journal, const char *name, const char *identity, bool written)
{
    uint64_t hash = hash_of(name);
    if (!grow(journal))
        return false;
    struct entry *entry = find_entry(journal->entries, journal->capacity, hash);
    journal->n += entry->name == 0;
    journal->alive += written && !entry->written;
    *entry = (struct entry){hash, hash_of(identity), written || entry->written, false};
    return true;
}

static bool has_entry(const struct journal *journal, const char *name, const char *identity)
{
    if (journal->capacity == 0 || identity[0] == '\0')
        return false;
    uint64_t hash = hash_of(name);
    const struct entry *entry = find_entry(journal->entries, journal->capacity, hash);
    return entry->name == hash && entry->identity == hash_of(identity);
}

/* --- lines --- */

/* What would break a line is written as %09. */
static void put_field(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte < 0x20 || byte == 0x7f || byte == '%')
            fprintf(out, "%%%02X", byte);
        else
            (void)putc(byte, out);
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_field(char *field)
{
    char *to = field;
    for (const char *c = field; *c != '\0'; c++) {
        if (*c != '%') {
            *to++ = *c;
            continue;
        }
        int high = hex_digit(c[1]);
        int low = high < 0 ? -1 : hex_digit(c[2]);
        if (low < 0)
            return false;
        *to++ = (char)(16 * high + low);
        c += 2;
    }
    *to = '\0';
    return true;
}

/* The text up to a tab, which *rest is moved behind; *rest is NULL at the end. */
static char *cut_field(char **rest)
{
    char *field = *rest;
    char *tab = field == NULL ? NULL : strchr(field, '\t');
    if (tab != NULL)
        *tab = '\0';
    *rest = tab == NULL ? NULL : tab + 1;
    return field;
}

/* "NAME \t IDENTITY \t OUTCOME \t RUN \n"; false: it is no such line, and is passed over. */
static bool read_line(char *line, size_t n, const char **name, const char **identity)
{
    char *rest = line;
    if (n == 0 || strlen(line) != n || line[n - 1] != '\n')
        return false;
    line[n - 1] = '\0';
    char *first = cut_field(&rest);
    char *second = cut_field(&rest);
    if (second == NULL || rest == NULL || !read_field(first) || !read_field(second))
        return false;
    *name = first;
    *identity = second;
    return true;
}

static char *make_line(
    const char *name, const char *identity, const char *outcome, const char *run_id, size_t *n)
{
    char *line = NULL;
    FILE *out = open_memstream(&line, n);
    if (out == NULL)
        return NULL;
    put_field(out, name);
    (void)putc('\t', out);
    put_field(out, identity);
    fprintf(out, "\t%s\t%s\n", outcome, run_id);
    if (fclose(out) == 0)
        return line;
    free(line);
    return NULL;
}

static char *make_heading(const char *about, size_t *n)
{
    char *line = NULL;
    FILE *out = open_memstream(&line, n);
    if (out == NULL)
        return NULL;
    fprintf(out, "%s\t", heading);
    put_field(out, about);
    (void)putc('\n', out);
    if (fclose(out) == 0)
        return line;
    free(line);
    return NULL;
}

/* --- the file --- */

static bool journal_fail(const struct journal *journal, const char *what, struct failure *failure)
{
    return fail(failure, EXIT_FAILED, "the journal %s cannot be %s: %s", journal->file, what,
                strerror(errno));
}

/* All of it on disk, or nothing of it in the file. */
static bool write_through(int fd, const char *text, size_t n)
{
    struct stat before;
    if (fstat(fd, &before) != 0)
        return false;
    for (size_t done = 0; done < n;) {
        ssize_t m = write(fd, text + done, n - done);
        if (m < 0 && errno == EINTR)
            continue;
        if (m < 0) {
            int why = errno;
            if (ftruncate(fd, before.st_size) == 0)
                errno = why;
            return false;
        }
        done += (size_t)m;
    }
    return true;
}

static bool make_folders(const char *file)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", file);
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

static bool lock_file(struct journal *journal, struct failure *failure)
{
    if (flock(journal->fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno != EWOULDBLOCK)
        return journal_fail(journal, "locked", failure);
    (void)fail(failure, EXIT_FAILED, "another `provisor ingest` uses the journal %s",
               journal->file);
    return fail_next(failure, "wait for its end, or use another one with --state FILE");
}

/* Another process may have put a new file in its place between open and lock. */
static bool is_in_place(const struct journal *journal)
{
    struct stat open_file;
    struct stat named;
    return fstat(journal->fd, &open_file) == 0 && stat(journal->file, &named) == 0 &&
           open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

static bool open_locked(struct journal *journal, struct failure *failure)
{
    struct stat status;
    if (!make_folders(journal->file))
        return journal_fail(journal, "made", failure);
    for (unsigned i = 0; i < OPEN_TRIES; i++) {
        journal->fd = open(journal->file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (journal->fd < 0)
            return journal_fail(journal, "opened", failure);
        if (fstat(journal->fd, &status) != 0 || !S_ISREG(status.st_mode))
            return fail(failure, EXIT_USAGE, "the journal %s is not a regular file", journal->file);
        if (!lock_file(journal, failure))
            return false;
        if (is_in_place(journal))
            return true;
        (void)close(journal->fd);
    }
    return fail(failure, EXIT_FAILED, "the journal %s is replaced again and again", journal->file);
}

/* --- reading it --- */

static bool check_heading(const struct journal *journal, char *line, struct failure *failure)
{
    char *rest = line;
    line[strcspn(line, "\n")] = '\0';
    const char *first = cut_field(&rest);
    if (first == NULL || strcmp(first, heading) != 0 || rest == NULL || !read_field(rest))
        return fail(failure, EXIT_USAGE, "%s is not a journal of provisor ingest", journal->file);
    if (strcmp(rest, journal->about) == 0)
        return true;
    (void)fail(failure, EXIT_USAGE, "%s is the journal of what was sent to %s", journal->file,
               rest);
    return fail_next(failure, "use another one with --state FILE");
}

static bool begin_file(struct journal *journal, struct failure *failure)
{
    size_t n = 0;
    char *line = make_heading(journal->about, &n);
    if (line == NULL)
        return fail_memory(failure);
    bool good = ftruncate(journal->fd, 0) == 0 && write_through(journal->fd, line, n) &&
                fdatasync(journal->fd) == 0;
    free(line);
    return good || journal_fail(journal, "written", failure);
}

/* Does the file begin as a journal does? One that was cut while it was made holds a part of its heading. */
static bool begins_as_journal(FILE *in)
{
    char bytes[sizeof heading - 1];
    size_t n = fread(bytes, 1, sizeof bytes, in);
    rewind(in);
    return memcmp(bytes, heading, n) == 0;
}

/* Behind the last whole line nothing stays. */
static bool read_lines(struct journal *journal, FILE *in, struct failure *failure)
{
    char *line = NULL;
    size_t room = 0;
    off_t whole = 0;
    bool good = true;
    bool first = true;
    ssize_t n;
    while (good && (n = getline(&line, &room, in)) > 0 && line[n - 1] == '\n') {
        const char *name;
        const char *identity;
        whole += n;
        if (first)
            good = check_heading(journal, line, failure);
        else if (read_line(line, (size_t)n, &name, &identity))
            good = set_entry(journal, name, identity, true) || fail_memory(failure);
        journal->lines += !first;
        first = false;
    }
    free(line);
    if (!good)
        return false;
    if (ferror(in) != 0)
        return journal_fail(journal, "read", failure);
    struct stat status;
    if (fstat(journal->fd, &status) != 0)
        return journal_fail(journal, "read", failure);
    if (first)
        return begin_file(journal, failure);
    return status.st_size == whole || ftruncate(journal->fd, whole) == 0 ||
           journal_fail(journal, "written", failure);
}

static FILE *open_again(const struct journal *journal)
{
    return fopen(journal->file, "re");
}

static bool load(struct journal *journal, struct failure *failure)
{
    FILE *in = open_again(journal);
    if (in == NULL)
        return journal_fail(journal, "read", failure);
    bool good =
        begins_as_journal(in)
            ? read_lines(journal, in, failure)
            : fail(failure, EXIT_USAGE, "%s is not a journal of provisor ingest", journal->file);
    (void)fclose(in);
    return good;
}

/* --- writing it anew --- */

/* false: no memory. */
static bool is_alive(struct journal *journal, const char *line, size_t n, bool *alive)
{
    const char *name;
    const char *identity;
    char *copy = strndup(line, n);
    if (copy == NULL)
        return false;
    if (read_line(copy, n, &name, &identity) && has_entry(journal, name, identity)) {
        struct entry *entry = find_entry(journal->entries, journal->capacity, hash_of(name));
        *alive = entry->written && !entry->copied;
        entry->copied = true;
    }
    free(copy);
    return true;
}

/* The lines that count: those with the identity that the log had last; of equal ones the first. */
static bool copy_alive(struct journal *journal, FILE *in, FILE *out, size_t *lines)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n = getline(&line, &room, in);
    bool good = n > 0 && fwrite(line, 1, (size_t)n, out) == (size_t)n;
    *lines = 0;
    while (good && (n = getline(&line, &room, in)) > 0) {
        bool alive = false;
        good = is_alive(journal, line, (size_t)n, &alive) &&
               (!alive || fwrite(line, 1, (size_t)n, out) == (size_t)n);
        *lines += alive;
    }
    free(line);
    return good && ferror(in) == 0 && fflush(out) == 0 && ferror(out) == 0;
}

static void sync_folder(const char *file)
{
    char folder[PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%s", file);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0';
    int fd = open(slash == NULL ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

static bool replace_file(struct journal *journal, const char *beside, size_t *lines)
{
    (void)unlink(beside); /* of a process that was killed */
    int fd = open(beside, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    int second = fd < 0 ? -1 : dup(fd);
    FILE *out = second < 0 ? NULL : fdopen(second, "a");
    FILE *in = open_again(journal);
    bool good = in != NULL && out != NULL && copy_alive(journal, in, out, lines) &&
                fsync(fd) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                rename(beside, journal->file) == 0;
    if (in != NULL)
        (void)fclose(in);
    if (out != NULL)
        (void)fclose(out);
    else if (second >= 0)
        (void)close(second);
    if (good) {
        (void)close(journal->fd);
        journal->fd = fd;
        sync_folder(journal->file);
    } else if (fd >= 0) {
        (void)close(fd);
        (void)unlink(beside);
    }
    return good;
}

/* Where it does not work the file stays as it is, only longer than it need be. */
static void compact(struct journal *journal)
{
    char beside[PATH_MAX + 8];
    size_t lines = 0;
    if (journal->lines < COMPACT_LINES_MIN || journal->lines <= 2 * journal->alive)
        return;
    (void)snprintf(beside, sizeof beside, "%s.new", journal->file);
    bool good = replace_file(journal, beside, &lines);
    for (size_t i = 0; i < journal->capacity; i++)
        journal->entries[i].copied = false;
    if (good)
        journal->lines = lines;
}

/* --- what others see --- */

bool journal_open(const char *file,
                  const char *about,
                  struct journal **opened,
                  struct failure *failure)
{
    struct journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL)
        return fail_memory(failure);
    journal->fd = -1;
    (void)pthread_mutex_init(&journal->lock, NULL);
    journal->about = strdup(about);
    int n = snprintf(journal->file, sizeof journal->file, "%s", file);
    bool good = journal->about != NULL;
    if (!good)
        (void)fail_memory(failure);
    if (good && (size_t)n >= sizeof journal->file)
        good = fail(failure, EXIT_USAGE, "the name of the journal is too long");
    if (!good || !open_locked(journal, failure) || !load(journal, failure)) {
        journal_close(journal);
        return false;
    }
    compact(journal);
    *opened = journal;
    return true;
}

void journal_close(struct journal *journal)
{
    if (journal == NULL)
        return;
    if (journal->fd >= 0)
        (void)close(journal->fd);
    free(journal->entries);
    free(journal->about);
    (void)pthread_mutex_destroy(&journal->lock);
    free(journal);
}

bool journal_has(struct journal *journal, const char *name, const char *identity)
{
    pthread_mutex_lock(&journal->lock);
    bool has = has_entry(journal, name, identity);
    pthread_mutex_unlock(&journal->lock);
    return has;
}

bool journal_remember(struct journal *journal, const char *name, const char *identity)
{
    pthread_mutex_lock(&journal->lock);
    bool good = set_entry(journal, name, identity, false);
    pthread_mutex_unlock(&journal->lock);
    return good;
}

size_t journal_lines(struct journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    size_t lines = journal->lines;
    pthread_mutex_unlock(&journal->lock);
    return lines;
}

bool journal_add(struct journal *journal,
                 const char *name,
                 const char *identity,
                 const char *outcome,
                 const char *run_id,
                 struct failure *failure)
{
    size_t n = 0;
    char *line = make_line(name, identity, outcome, run_id, &n);
    if (line == NULL)
        return fail_memory(failure);
    pthread_mutex_lock(&journal->lock);
    bool good = set_entry(journal, name, identity, true) || fail_memory(failure);
    if (good && (!write_through(journal->fd, line, n) || fdatasync(journal->fd) != 0))
        good = journal_fail(journal, "written", failure);
    journal->lines += good;
    if (good)
        compact(journal);
    pthread_mutex_unlock(&journal->lock);
    free(line);
    return good;
}
