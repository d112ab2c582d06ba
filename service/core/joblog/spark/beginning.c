#include "core/joblog/spark/beginning.h"

#include "base/arena.h"
#include "base/hash.h"

/* Milliseconds since 1970 have so many digits from 2001 to 2286. */
enum { INSTANT_DIGITS = 13 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Where a string that begins at `from` ends; `end` if it does not. */
static const char *string_end(const char *from, const char *end)
{
    const char *c = from + 1;
    while (c < end && *c != '"')
        c += *c == '\\' ? 2 : 1;
    return c < end ? c : end;
}

/* Hash of the whole numbers in the line that can be instants. False: the line has no such number, or
 * a bracket of it is open at its end. */
static bool hash_instants(struct strview line, uint64_t *hash)
{
    const char *end = line.at + line.n;
    int64_t depth = 0;
    bool any = false;
    for (const char *c = line.at; c < end; c++) {
        if (*c == '"') {
            c = string_end(c, end);
            continue;
        }
        depth += (*c == '{' || *c == '[') - (*c == '}' || *c == ']');
        const char *from = c;
        while (c < end && is_digit(*c))
            c++;
        if (c - from == INSTANT_DIGITS) {
            *hash = hash_bytes(*hash, from, INSTANT_DIGITS);
            any = true;
        }
        if (c > from)
            c--;
    }
    return any && depth == 0;
}

static bool is_end_of_work(struct strview name)
{
    static const char *const ends[] = {"SparkListenerApplicationEnd", "SparkListenerJobEnd",
                                       "SparkListenerStageCompleted", "SparkListenerTaskEnd"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strview_is(name, ends[i]))
            return true;
    return false;
}

void beginning_see_event(struct log_beginning *beginning, struct strview name, struct strview line)
{
    beginning->over = is_end_of_work(name);
    if (beginning->over)
        return;
    uint64_t hash = hash_bytes(HASH_START, name.at, name.n);
    if (!hash_instants(line, &hash))
        return;
    uint32_t event = (uint32_t)(hash ^ hash >> 32);
    for (size_t i = 0; i < beginning->n; i++)
        if (beginning->events[i] == event)
            return;
    beginning->events[beginning->n++] = event;
    beginning->over = beginning->n == LOG_EVENTS_MAX;
}

void beginning_see_property(struct log_beginning *beginning,
                            struct json_text key,
                            struct json_text value)
{
    static const char *const naming[] = {"spark.app.startTime",
                                         "spark.databricks.clusterUsageTags.clusterId",
                                         "spark.driver.port", "spark.master"};
    for (size_t i = 0; i < sizeof naming / sizeof *naming; i++)
        if (json_text_is(key, strview_of(naming[i]))) /* a sum: in whatever order they come */
            beginning->cluster += hash_bytes(hash_text(HASH_START, naming[i]), value.at, value.n);
}

bool beginning_build(const struct log_beginning *beginning,
                     struct arena *arena,
                     struct strview *bytes)
{
    size_t n = LOG_CLUSTER_BYTES + LOG_EVENT_BYTES * beginning->n;
    unsigned char *out = arena_alloc(arena, n);
    if (out == NULL)
        return false;
    log_number_write(out, beginning->cluster, LOG_CLUSTER_BYTES);
    for (size_t i = 0; i < beginning->n; i++)
        log_number_write(out + LOG_CLUSTER_BYTES + LOG_EVENT_BYTES * i, beginning->events[i],
                         LOG_EVENT_BYTES);
    *bytes = (struct strview){(const char *)out, n};
    return true;
}
