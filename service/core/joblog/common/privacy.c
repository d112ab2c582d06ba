#include "core/joblog/common/privacy.h"

#include <string.h>

enum { HASH_DIGITS = 16, TAG_MAX = 8, TEXT_MAX = 4 * SCREEN_NAME_MAX };

/* A text under construction; what does not fit is left out and noted. */
struct sink {
    char *at;
    size_t n;
    size_t capacity;
    bool full;
};

static void privacy_put(struct sink *sink, const char *at, size_t n)
{
    if (sink->full || n > sink->capacity - sink->n) {
        sink->full = true;
        return;
    }
    memcpy(sink->at + sink->n, at, n);
    sink->n += n;
}

static bool privacy_hash(const struct joblog_privacy *privacy,
                         struct strview text,
                         char digits[HASH_DIGITS + 1])
{
    if (privacy->hash == NULL)
        return false;
    privacy->hash(privacy->key, text, digits);
    return true;
}

/* tag and hash in place of text. False when there is no hash. */
static bool put_hash(struct sink *sink,
                     const struct joblog_privacy *privacy,
                     const char *tag,
                     struct strview text)
{
    char digits[HASH_DIGITS + 1];
    if (!privacy_hash(privacy, text, digits))
        return false;
    privacy_put(sink, tag, strlen(tag));
    privacy_put(sink, digits, HASH_DIGITS);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}

/* --- words of free texts --- */

static bool ends_word(char c)
{
    return strchr(" \t,;()[]{}'\"`=<>|", c) != NULL;
}

static size_t find_text(struct strview text, const char *what)
{
    size_t n = strlen(what);
    for (size_t i = 0; i + n <= text.n; i++)
        if (memcmp(text.at + i, what, n) == 0)
            return i;
    return text.n;
}

/* /a, ./a, ~/a, s3://a, C:\a, a/b/c; but "team/job" and "1/2" are none. */
static bool is_path(struct strview word)
{
    size_t slashes = 0;
    for (size_t i = 0; i < word.n; i++)
        slashes += word.at[i] == '/' || word.at[i] == '\\';
    if (slashes == 0)
        return false;
    return slashes > 1 || strchr("/\\.~", word.at[0]) != NULL || find_text(word, ":/") < word.n ||
           find_text(word, ":\\") < word.n;
}

/* db.prod.example.com, 10.0.0.7, db.local:5432. A table's full name looks the same and goes with
 * them; a host's short name looks like any word. */
static bool is_host(struct strview word)
{
    size_t n = 0;
    size_t dots = 0;
    size_t digits = 0;
    for (; n < word.n && word.at[n] != ':'; n++) {
        dots += word.at[n] == '.';
        digits += is_digit(word.at[n]);
        if (word.at[n] != '.' && !is_word(word.at[n]))
            return false;
    }
    for (size_t i = n + 1; i < word.n; i++)
        if (!is_digit(word.at[i]))
            return false;
    bool port = n + 1 < word.n;
    if (n == 0 || word.at[0] == '.' || word.at[n - 1] == '.' || dots == 0)
        return false;
    return digits + dots == n ? dots == 3 : dots > 1 || port;
}

static void put_concealed(struct sink *sink,
                          const struct joblog_privacy *privacy,
                          enum joblog_policy policy,
                          const char *tag,
                          struct strview word)
{
    if (policy == JOBLOG_KEEP)
        privacy_put(sink, word.at, word.n);
    else if (policy == JOBLOG_DROP || !put_hash(sink, privacy, tag, word))
        privacy_put(sink, "...", 3);
}

/* scheme://host/path of which the path is kept. */
static void put_path(struct sink *sink, const struct joblog_privacy *privacy, struct strview word)
{
    size_t host = find_text(word, "://");
    if (privacy->paths != JOBLOG_KEEP || host == word.n) {
        put_concealed(sink, privacy, privacy->paths, "path:", word);
        return;
    }
    host += 3;
    size_t end = host;
    while (end < word.n && word.at[end] != '/')
        end++;
    privacy_put(sink, word.at, host);
    if (end > host)
        put_concealed(sink, privacy, privacy->host_names,
                      "host:", (struct strview){word.at + host, end - host});
    privacy_put(sink, word.at + end, word.n - end);
}

static void put_words(struct sink *sink, const struct joblog_privacy *privacy, struct strview text)
{
    for (size_t i = 0; i < text.n;) {
        size_t from = i;
        while (i < text.n && !ends_word(text.at[i]))
            i++;
        struct strview word = {text.at + from, i - from};
        if (is_path(word))
            put_path(sink, privacy, word);
        else if (is_host(word))
            put_concealed(sink, privacy, privacy->host_names, "host:", word);
        else
            privacy_put(sink, word.at, word.n);
        if (i < text.n)
            privacy_put(sink, text.at + i++, 1);
    }
}

/* --- call sites --- */

struct call_site {
    struct strview method;
    struct strview directory; /* with its last slash; may be empty */
    struct strview file;      /* and line */
};

static bool is_method(struct strview text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_word(text.at[i]) && strchr("$<>.", text.at[i]) == NULL)
            return false;
    return text.n > 0;
}

static bool is_source(struct strview name)
{
    static const char *const kinds[] = {"scala", "java", "py", "R", "r", "kt", "sc", "cs", "clj"};
    size_t dot = 0;
    while (dot < name.n && name.at[dot] != '.')
        dot++;
    for (size_t i = 0; dot > 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (strview_is((struct strview){name.at + dot + 1, name.n - dot - (dot < name.n)},
                       kinds[i]))
            return true;
    return false;
}

/* Source.scala, <console>, <command-12>, command-12 */
static bool is_file(struct strview name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!is_word(name.at[i]) && strchr("$<>.", name.at[i]) == NULL)
            return false;
    if (name.n > 2 && name.at[0] == '<')
        return name.at[name.n - 1] == '>';
    return is_source(name) || (name.n > 8 && memcmp(name.at, "command-", 8) == 0);
}

static bool split_call_site(struct strview text, struct call_site *site)
{
    size_t at = find_text(text, " at ");
    if (at == text.n)
        return false;
    site->method = (struct strview){text.at, at};
    struct strview place = {text.at + at + 4, text.n - at - 4};
    size_t base = place.n;
    while (base > 0 && place.at[base - 1] != '/' && place.at[base - 1] != '\\')
        base--;
    site->directory = (struct strview){place.at, base};
    site->file = (struct strview){place.at + base, place.n - base};
    size_t line = site->file.n;
    while (line > 0 && is_digit(site->file.at[line - 1]))
        line--;
    if (line == 0 || line == site->file.n || site->file.at[line - 1] != ':')
        return false;
    return is_method(site->method) && is_file((struct strview){site->file.at, line - 1}) &&
           find_text(site->directory, " ") == site->directory.n;
}

static void
put_call_site(struct sink *sink, const struct joblog_privacy *privacy, const struct call_site *site)
{
    privacy_put(sink, site->method.at, site->method.n);
    privacy_put(sink, " at ", 4);
    struct strview directory = site->directory;
    if (directory.n > 0 && privacy->paths == JOBLOG_KEEP)
        privacy_put(sink, directory.at, directory.n);
    else if (directory.n > 0 && privacy->paths == JOBLOG_HASH &&
             put_hash(sink, privacy, "path:", directory))
        privacy_put(sink, "/", 1);
    privacy_put(sink, site->file.at, site->file.n);
}

/* --- what is kept --- */

static void
put_free_text(struct sink *sink, const struct joblog_privacy *privacy, struct strview text)
{
    if (screen_is_suspicious(text))
        return;
    if (privacy->sql_text == JOBLOG_KEEP)
        put_words(sink, privacy, text);
    else if (privacy->sql_text == JOBLOG_HASH)
        (void)put_hash(sink, privacy, "text:", text);
}

size_t privacy_stage_name(const struct joblog_privacy *privacy,
                          struct json_text text,
                          char out[SCREEN_NAME_MAX])
{
    char whole[TEXT_MAX];
    bool cut;
    size_t n = json_text_decode(text, whole, sizeof whole, &cut);
    struct strview all = {whole, n};
    struct call_site site;
    struct sink sink = {out, 0, SCREEN_NAME_MAX - 1, false};
    if (cut || !split_call_site(all, &site)) {
        put_free_text(&sink, privacy, all); /* as many whole words as fit */
        return sink.n;
    }
    if (screen_is_suspicious(site.method) || screen_is_suspicious(site.file) ||
        (privacy->paths == JOBLOG_KEEP && screen_is_suspicious(site.directory)))
        return 0;
    put_call_site(&sink, privacy, &site);
    return sink.full ? 0 : sink.n;
}

bool privacy_id(const struct joblog_privacy *privacy, char *id, size_t capacity)
{
    struct strview text = strview_of(id);
    bool digit = false;
    bool plain = true;
    for (size_t i = 0; i < text.n; i++) {
        digit = digit || is_digit(id[i]);
        plain = plain && is_word(id[i]);
    }
    if (text.n == 0 || (plain && digit && !screen_is_marked(text)))
        return true;
    char hashed[TAG_MAX + HASH_DIGITS];
    struct sink sink = {hashed, 0, sizeof hashed, false};
    bool kept = put_hash(&sink, privacy, "id:", text) && sink.n < capacity;
    memcpy(id, hashed, kept ? sink.n : 0);
    id[kept ? sink.n : 0] = '\0';
    return kept;
}

/* Does one of the words "|a|b|" stand in the text as a word, in upper or lower case? first: only
 * the first word of the text is looked at. */
static bool has_sql_word(struct strview text, const char *words, bool first)
{
    char word[16] = "|";
    for (size_t i = 0; i < text.n;) {
        size_t n = 0;
        while (i + n < text.n && is_letter(text.at[i + n]))
            n++;
        for (size_t k = 0; n > 0 && n < sizeof word - 2 && k < n; k++)
            word[1 + k] = (char)(text.at[i + k] | 0x20);
        if (n > 0 && n < sizeof word - 2) {
            memcpy(word + 1 + n, "|", 2);
            if (strstr(words, word) != NULL)
                return true;
        }
        if (first && n > 0)
            return false;
        i += n > 0 ? n : 1;
    }
    return false;
}

/* Hive calls its jobs after their query. */
static bool is_sql(struct strview text)
{
    return has_sql_word(text, "|select|insert|with|create|merge|update|delete|alter|from|", true) &&
           has_sql_word(text, "|into|overwrite|table|as|set|view|where|join|group|values|", false);
}

void privacy_application_name(const struct joblog_privacy *privacy, char *name, size_t capacity)
{
    struct strview whole = strview_of(name);
    if (privacy->sql_text == JOBLOG_KEEP || !is_sql(whole))
        return;
    struct sink sink = {name, 0, capacity - 1, false};
    char digits[HASH_DIGITS + 1] = "";
    if (privacy_hash(privacy, whole, digits)) {
        privacy_put(&sink, "query(", 6);
        privacy_put(&sink, digits, HASH_DIGITS);
        privacy_put(&sink, ")", 1);
    }
    name[sink.n] = '\0';
}

/* Letters, digits, '-', '_', '.', and ':' and brackets of addresses. */
static bool is_node_name(struct strview text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_word(text.at[i]) && strchr(".:[]%", text.at[i]) == NULL)
            return false;
    return text.n > 0 && !screen_is_suspicious(text);
}

void privacy_node_name(const struct joblog_privacy *privacy,
                       struct json_text host,
                       char out[SCREEN_NAME_MAX])
{
    char whole[TEXT_MAX];
    bool cut;
    struct strview text = {whole, json_text_decode(host, whole, sizeof whole, &cut)};
    struct sink sink = {out, 0, SCREEN_NAME_MAX - 1, false};
    if (privacy->host_names == JOBLOG_KEEP && text.n < SCREEN_NAME_MAX && is_node_name(text))
        privacy_put(&sink, text.at, text.n);
    else if (privacy->host_names != JOBLOG_DROP)
        (void)put_hash(&sink, privacy, "host:", text);
    out[sink.n] = '\0';
}

bool privacy_is_version(const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if (!is_word(text[i]) && text[i] != '.' && text[i] != '+')
            return false;
    return is_digit(text[0]) && !screen_is_marked(strview_of(text));
}
