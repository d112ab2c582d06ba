#include "core/spark/native_engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/spark/property_value.h"

const char *const native_engine_keys[NATIVE_ENGINE_KEYS] = {
    "spark.plugins", "spark.shuffle.manager", "spark.sql.extensions"};

/* How the classes of each plugin begin. Apache Gluten, Apache DataFusion Comet, RAPIDS Accelerator
 * for Apache Spark, Apache Auron (formerly Blaze). */
static const struct {
    const char *prefix;
    const char *name;
} engines[] = {
    {"org.apache.gluten.", "Gluten"},
    {"io.glutenproject.", "Gluten"},
    {"org.apache.spark.shuffle.gluten.", "Gluten"},
    {"org.apache.spark.shuffle.sort.ColumnarShuffleManager", "Gluten"},
    {"org.apache.comet.", "Comet"},
    {"org.apache.spark.CometPlugin", "Comet"},
    {"org.apache.spark.sql.comet.", "Comet"},
    {"com.nvidia.spark.", "RAPIDS"},
    {"ai.rapids.spark.", "RAPIDS"},
    {"org.apache.auron.", "Auron"},
    {"org.apache.spark.sql.auron.", "Auron"},
    {"org.apache.spark.sql.execution.auron.", "Auron"},
    {"org.apache.spark.sql.blaze.", "Blaze"},
    {"org.apache.spark.sql.execution.blaze.", "Blaze"},
};

/* The first class of the list without blanks around it; *classes is the rest of the list. */
static struct strview next_class(struct strview *classes)
{
    const char *comma = memchr(classes->at, ',', classes->n);
    size_t n = comma == NULL ? classes->n : (size_t)(comma - classes->at);
    struct strview name = {classes->at, n};
    size_t passed = comma == NULL ? n : n + 1;
    *classes = (struct strview){classes->at + passed, classes->n - passed};
    while (name.n > 0 && name.at[0] == ' ')
        name = (struct strview){name.at + 1, name.n - 1};
    while (name.n > 0 && name.at[name.n - 1] == ' ')
        name.n--;
    return name;
}

static const char *engine_of(struct strview name)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        size_t n = strlen(engines[i].prefix);
        if (name.n >= n && memcmp(name.at, engines[i].prefix, n) == 0)
            return engines[i].name;
    }
    return NULL;
}

const char *native_engine_of_classes(struct strview classes)
{
    const char *name = NULL;
    while (name == NULL && classes.n > 0)
        name = engine_of(next_class(&classes));
    return name;
}

static bool is_class_name(struct strview name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.at[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '$')
            return false;
    }
    return true;
}

const char *native_engine_of_run(const struct run *run)
{
    const char *name = NULL;
    for (size_t i = 0; i < NATIVE_ENGINE_KEYS && name == NULL; i++)
        name = native_engine_of_classes(
            property_find(run->spark_properties, run->n_spark_properties, native_engine_keys[i]));
    return name;
}

void native_engine_keep(char *classes)
{
    struct strview rest = strview_of(classes);
    size_t n = 0;
    while (rest.n > 0) {
        struct strview name = next_class(&rest);
        if (!is_class_name(name) || engine_of(name) == NULL)
            continue;
        if (n > 0)
            classes[n++] = ',';
        memmove(classes + n, name.at, name.n); /* writes no further than it has read */
        n += name.n;
    }
    classes[n] = '\0';
}
