#include "core/joblog/spark/properties.h"

#include <string.h>

#include "base/uuid.h"
#include "core/spark/configuration.h"
#include "core/spark/native_engine.h"
#include "core/spark/property_type.h"

enum shape {
    SHAPE_BOOLEAN,
    SHAPE_NUMBER,   /* 4, 0.6 */
    SHAPE_CPU,      /* 2, 1.5, 1600m */
    SHAPE_SIZE,     /* 8g, 512, 384m */
    SHAPE_DURATION, /* 60s, 100ms */
    SHAPE_WORD,     /* one of a list */
    SHAPE_MASTER, /* local, local[4], local[*, 2], EMR Serverless: others hold the names of hosts */
    SHAPE_ENGINES /* classes of plugins that are known (core/spark/native_engine.h) */
};

struct allowed {
    const char *key;
    enum shape shape;
    const char *words; /* SHAPE_WORD: "|a|b|" */
};

#define SERIALIZER "org.apache.spark.serializer."

/* Ascending by key. */
static const struct allowed table[] = {
    {"spark.default.parallelism", SHAPE_NUMBER, NULL},
    {"spark.driver.cores", SHAPE_NUMBER, NULL},
    {"spark.driver.maxResultSize", SHAPE_SIZE, NULL},
    {"spark.driver.memory", SHAPE_SIZE, NULL},
    {"spark.driver.memoryOverhead", SHAPE_SIZE, NULL},
    {"spark.dynamicAllocation.enabled", SHAPE_BOOLEAN, NULL},
    {"spark.dynamicAllocation.executorAllocationRatio", SHAPE_NUMBER, NULL},
    {"spark.dynamicAllocation.executorIdleTimeout", SHAPE_DURATION, NULL},
    {"spark.dynamicAllocation.initialExecutors", SHAPE_NUMBER, NULL},
    {"spark.dynamicAllocation.maxExecutors", SHAPE_NUMBER, NULL},
    {"spark.dynamicAllocation.minExecutors", SHAPE_NUMBER, NULL},
    {"spark.dynamicAllocation.schedulerBacklogTimeout", SHAPE_DURATION, NULL},
    {"spark.dynamicAllocation.shuffleTracking.enabled", SHAPE_BOOLEAN, NULL},
    {"spark.dynamicAllocation.shuffleTracking.timeout", SHAPE_DURATION, NULL},
    {"spark.dynamicAllocation.sustainedSchedulerBacklogTimeout", SHAPE_DURATION, NULL},
    {SERVERLESS_DISK, SHAPE_SIZE, NULL},
    {"spark.executor.cores", SHAPE_NUMBER, NULL},
    {"spark.executor.instances", SHAPE_NUMBER, NULL},
    {"spark.executor.memory", SHAPE_SIZE, NULL},
    {"spark.executor.memoryOverhead", SHAPE_SIZE, NULL},
    {"spark.executor.memoryOverheadFactor", SHAPE_NUMBER, NULL},
    {"spark.executor.pyspark.memory", SHAPE_SIZE, NULL},
    {"spark.executor.resource.gpu.amount", SHAPE_NUMBER, NULL},
    {"spark.io.compression.codec", SHAPE_WORD, "|lz4|lzf|snappy|zstd|"},
    {"spark.kubernetes.executor.limit.cores", SHAPE_CPU, NULL},
    {"spark.kubernetes.executor.request.cores", SHAPE_CPU, NULL},
    {"spark.kubernetes.memoryOverheadFactor", SHAPE_NUMBER, NULL},
    {"spark.locality.wait", SHAPE_DURATION, NULL},
    {"spark.master", SHAPE_MASTER, NULL},
    {"spark.memory.fraction", SHAPE_NUMBER, NULL},
    {"spark.memory.offHeap.enabled", SHAPE_BOOLEAN, NULL},
    {"spark.memory.offHeap.size", SHAPE_SIZE, NULL},
    {"spark.memory.storageFraction", SHAPE_NUMBER, NULL},
    {"spark.plugins", SHAPE_ENGINES, NULL},
    {"spark.scheduler.mode", SHAPE_WORD, "|FIFO|FAIR|"},
    {"spark.serializer", SHAPE_WORD, "|" SERIALIZER "JavaSerializer|" SERIALIZER "KryoSerializer|"},
    {"spark.shuffle.compress", SHAPE_BOOLEAN, NULL},
    {"spark.shuffle.manager", SHAPE_ENGINES, NULL},
    {"spark.shuffle.service.enabled", SHAPE_BOOLEAN, NULL},
    {"spark.speculation", SHAPE_BOOLEAN, NULL},
    {"spark.speculation.multiplier", SHAPE_NUMBER, NULL},
    {"spark.speculation.quantile", SHAPE_NUMBER, NULL},
    {"spark.sql.adaptive.coalescePartitions.enabled", SHAPE_BOOLEAN, NULL},
    {"spark.sql.adaptive.enabled", SHAPE_BOOLEAN, NULL},
    {"spark.sql.autoBroadcastJoinThreshold", SHAPE_SIZE, NULL},
    {"spark.sql.extensions", SHAPE_ENGINES, NULL},
    {"spark.sql.files.maxPartitionBytes", SHAPE_SIZE, NULL},
    {"spark.sql.shuffle.partitions", SHAPE_NUMBER, NULL},
    {"spark.submit.deployMode", SHAPE_WORD, "|client|cluster|"},
    {"spark.task.cpus", SHAPE_NUMBER, NULL},
    {"spark.task.maxFailures", SHAPE_NUMBER, NULL},
    {"spark.task.resource.gpu.amount", SHAPE_NUMBER, NULL},
};

enum { TABLE_ROWS = sizeof table / sizeof *table };
_Static_assert((int)TABLE_ROWS <= (int)PROPERTIES_MAX, "raise PROPERTIES_MAX");

size_t properties_count(void)
{
    return TABLE_ROWS;
}

const char *properties_key(size_t i)
{
    return table[i].key;
}

bool properties_keep(struct strview key)
{
    for (size_t i = 0; i < TABLE_ROWS; i++)
        if (strview_is(key, table[i].key))
            return true;
    return false;
}

/* Length of the number at the start: a sign, digits, a point, digits; 0 when there is none. Digits
 * are few, so that a number long enough to be a key does not pass. */
static size_t number_length(const char *text)
{
    size_t sign = text[0] == '-';
    size_t whole = strspn(text + sign, "0123456789");
    if (whole == 0 || whole > 15)
        return 0;
    size_t n = sign + whole;
    if (text[n] != '.')
        return n;
    size_t fraction = strspn(text + n + 1, "0123456789");
    return fraction == 0 || fraction > 15 ? 0 : n + 1 + fraction;
}

/* A number and one of the units in "|a|b|" (or none). */
static bool is_measure(const char *text, const char *units)
{
    size_t n = number_length(text);
    if (n == 0)
        return false;
    if (text[n] == '\0')
        return true;
    char unit[8] = "|";
    size_t n_unit = strlen(text + n);
    if (n_unit > sizeof unit - 3)
        return false;
    for (size_t i = 0; i < n_unit; i++) {
        char c = text[n + i];
        unit[1 + i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    unit[1 + n_unit] = '|';
    unit[2 + n_unit] = '\0';
    return strstr(units, unit) != NULL;
}

static bool is_word(const char *text, const char *words)
{
    size_t n = strlen(text);
    if (strchr(text, '|') != NULL)
        return false;
    for (const char *at = words; at[1] != '\0'; at = strchr(at + 1, '|')) {
        if (strncmp(at + 1, text, n) == 0 && at[1 + n] == '|')
            return true;
    }
    return false;
}

static bool is_local(const char *text)
{
    if (strncmp(text, "local", 5) != 0)
        return false;
    size_t n = text[5] == '[' ? strspn(text + 6, "0123456789*, ") : 0;
    return n == 0 ? text[5] == '\0' : text[6 + n] == ']' && text[7 + n] == '\0';
}

static bool has_shape(const char *text, const struct allowed *allowed)
{
    switch (allowed->shape) {
    case SHAPE_BOOLEAN:
        return is_word(text, "|true|false|");
    case SHAPE_NUMBER:
        return is_measure(text, "");
    case SHAPE_CPU:
        return is_measure(text, "|m|");
    case SHAPE_SIZE:
        return is_measure(text, "|b|k|kb|m|mb|g|gb|t|tb|p|pb|");
    case SHAPE_DURATION:
        return is_measure(text, "|us|ms|s|m|min|h|d|");
    case SHAPE_WORD:
        return is_word(text, allowed->words);
    case SHAPE_MASTER:
        return is_local(text) || strcmp(text, SERVERLESS_MASTER) == 0;
    case SHAPE_ENGINES:
        return text[0] != '\0'; /* what properties_take kept of it */
    }
    return false;
}

static int properties_find(const char *key)
{
    size_t low = 0;
    size_t high = TABLE_ROWS;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(key, table[middle].key);
        if (order == 0)
            return (int)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

void properties_take(struct properties *properties, struct json_text key, struct json_text value)
{
    char name[64];
    char text[1024]; /* lists of classes are long, and cut to those that are known */
    bool cut;
    size_t n = json_text_decode(key, name, sizeof name - 1, &cut);
    if (cut)
        return;
    name[n] = '\0';
    int at = properties_find(name);
    bool is_advice = strcmp(name, "spark.provisor.adviceId") == 0;
    if (at < 0 && !is_advice)
        return;
    n = json_text_decode(value, text, sizeof text - 1, &cut);
    if (cut)
        return;
    text[n] = '\0';
    char uuid[37];
    if (is_advice && uuid_parse(text, uuid))
        memcpy(properties->advice_id, uuid, sizeof uuid);
    if (at >= 0 && table[at].shape == SHAPE_ENGINES) {
        native_engine_keep(text);
        n = strlen(text);
    }
    n = property_normalise(strview_of(name), (struct strview){text, n}, text);
    text[n] = '\0';
    if (at >= 0 && n < PROPERTY_VALUE_MAX && has_shape(text, &table[at]))
        memcpy(properties->values[at].text, text, n + 1);
}

const char *properties_value(const struct properties *properties, const char *key)
{
    int at = properties_find(key);
    return at < 0 ? "" : properties->values[at].text;
}

struct tag {
    struct json_text key;
    struct json_text value;
};

static const struct json_field tag_fields[] = {
    JSON_FIELD("key", JSON_TEXT, struct tag, key),
    JSON_FIELD("value", JSON_TEXT, struct tag, value),
};
static const struct json_shape tag_shape = JSON_SHAPE(tag_fields);

static bool find_tag(struct strview tags, struct strview key, char *out, size_t capacity)
{
    struct json json = json_over(tags);
    bool started = false;
    while (json_next_element(&json, &started)) {
        struct tag tag = {{NULL, 0, false}, {NULL, 0, false}};
        if (json_read_object(&json, &tag_shape, &tag) && tag.value.at != NULL &&
            json_text_is(tag.key, key))
            return json_text_keep(tag.value, out, capacity);
    }
    return false;
}

bool properties_find_text(struct strview object, struct strview key, char *out, size_t capacity)
{
    enum { TAGS_MAX = 16384 };
    struct strview tag = {NULL, 0};
    const char *bracket = memchr(key.at, '[', key.n);
    if (bracket != NULL && key.at[key.n - 1] == ']') {
        tag = (struct strview){bracket + 1, key.n - (size_t)(bracket - key.at) - 2};
        key.n = (size_t)(bracket - key.at);
    }
    struct json json = json_over(object);
    bool started = false;
    struct json_text name;
    while (json_next_member(&json, &started, &name)) {
        struct json_text value;
        if (!json_read_text(&json, &value) || !json_text_is(name, key))
            continue;
        if (tag.at == NULL)
            return json_text_keep(value, out, capacity);
        char tags[TAGS_MAX];
        return json_text_keep(value, tags, sizeof tags) &&
               find_tag(strview_of(tags), tag, out, capacity);
    }
    return false;
}
