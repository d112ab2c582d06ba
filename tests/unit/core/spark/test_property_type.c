#include <criterion/criterion.h>
#include <string.h>

#include "core/joblog/spark/properties.h"
#include "core/spark/property_type.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(property_type, .init = set_up, .fini = tear_down);

Test(property_type, keys_ascend_and_each_is_found)
{
    for (size_t i = 0; i < property_types_n; i++) {
        const struct property_type *type = &property_types[i];
        cr_expect_eq(property_type_of(strview_of(type->key)), type, "%s", type->key);
        cr_expect_neq(type->source[0], '\0', "%s", type->key);
        cr_expect(type->least < type->most, "%s", type->key);
        if (i > 0)
            cr_expect_lt(strcmp(property_types[i - 1].key, type->key), 0, "%s", type->key);
    }
    cr_expect_null(property_type_of(strview_of("spark.app.name")));
    cr_expect_null(property_type_of(strview_of("spark.speculation.")));
    cr_expect_null(property_type_of(strview_of("spark.task.resource.amount")));
    cr_expect_null(property_type_of(strview_of("spark.executor.resource.gpu.vendor")));
    cr_expect_null(property_type_of(strview_of("spark.speculatio")));
    cr_expect_null(property_type_of((struct strview){NULL, 0}));
}

/* Those that logs keep and that are not texts have a type. */
Test(property_type, what_logs_keep_is_typed)
{
    static const char *const texts[] = {
        "spark.io.compression.codec", "spark.master",           "spark.plugins",
        "spark.scheduler.mode",       "spark.serializer",       "spark.shuffle.manager",
        "spark.sql.extensions",       "spark.submit.deployMode"};
    for (size_t i = 0; i < properties_count(); i++) {
        bool is_text = false;
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            is_text = is_text || strcmp(texts[k], properties_key(i)) == 0;
        cr_expect_neq(property_type_of(strview_of(properties_key(i))) != NULL, is_text, "%s",
                      properties_key(i));
    }
}

#define DYNAMIC "spark.dynamicAllocation."

/* Values at the bounds of each kind, and just beyond; what is not of the type. */
Test(property_type, values_of_each_kind)
{
    static const struct {
        const char *key, *within[4], *beyond[4], *none[5];
    } rows[] = {
        {"spark.speculation", {"true", " FALSE "}, {NULL}, {"yes", "1", "", "on"}},
        {"spark.decommission.enabled", {"true"}, {NULL}, {"yes"}},
        {"spark.sql.shuffle.partitions",
         {"1", " +7", "2147483647"},
         {"0", "-1", "2147483648"},
         {"4d", "1_000", "1e3", "0x10", "4.0"}},
        {"spark.task.maxFailures", {"-1", "0"}, {"2147483648"}, {"four"}},
        {"spark.executor.cores", {"1"}, {"0", "4294967297"}, {"2.5"}},
        {"spark.sql.files.maxRecordsPerFile", {"9223372036854775807"}, {NULL}, {"1g"}},
        {"spark.memory.fraction", {"1", "0.6d", "1e-3"}, {"0", "1.01"}, {"0x1", "6/10", "1,0"}},
        {"spark.memory.storageFraction", {"0", "0.99"}, {"1", "-0.1", "1.0"}, {"half"}},
        {"spark.executor.memoryOverheadFactor", {"0.1"}, {"0", "-1"}, {"10 %", "NaN", "Infinity"}},
        {DYNAMIC "schedulerBacklogTimeout",
         {"1", "1s", "1000ms", " 1MIN "},
         {"500ms", "999999us", "0", "-1s"},
         {"1.5s", "soon", "1w", "1 s"}},
        {DYNAMIC "executorIdleTimeout", {"0", "999ms"}, {"-1"}, {"60sec"}},
        {"spark.barrier.sync.timeout", {"1000ms"}, {"999ms"}, {"s"}},
        {"spark.locality.wait", {"0", "3s", "-1"}, {NULL}, {"3,5s"}},
        {"spark.executor.memoryOverhead",
         {"0", "2147483647", " 4G ", "1024b"},
         {"2147483648", "-1", "2p"},
         {"0.5g", "1gib", "9223372036854775808"}},
        {"spark.executor.pyspark.memory", {"1g"}, {"2147483648"}, {"x"}},
        {"spark.executor.memory", {"1m"}, {"1023k", "2147483648m"}, {"1.5g"}},
        {"spark.memory.offHeap.size", {"0", "2251799812636672"}, {"-1", "2p"}, {"1e9"}},
        {"spark.executor.resource.gpu.amount", {"0", " +2 "}, {"-1", "2147483648"}, {"0.5", "1d"}},
        {"spark.task.resource.a.b.amount", {"0.25", " 1d"}, {"-1"}, {"0x1", "half"}},
        {"spark.sql.autoBroadcastJoinThreshold", {"-1", "10MB"}, {NULL}, {"10 MB", "9000p"}},
        {"spark.kryoserializer.buffer.max", {"2047m"}, {"2g"}, {"64mib"}},
        {"spark.kubernetes.executor.limit.cores",
         {"2", "1m", "0.5", "2147483647"},
         {"0.9m", "1e300", "2147483648"},
         {" 7 ", "+4", "0x1", "4d", "0"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct property_type *type = property_type_of(strview_of(rows[i].key));
        bool within;
        cr_assert_not_null(type, "%s", rows[i].key);
        for (size_t k = 0; k < 4 && rows[i].within[k] != NULL; k++)
            cr_expect(property_type_reads(type, strview_of(rows[i].within[k]), &within) && within,
                      "%s %s", rows[i].key, rows[i].within[k]);
        for (size_t k = 0; k < 4 && rows[i].beyond[k] != NULL; k++)
            cr_expect(property_type_reads(type, strview_of(rows[i].beyond[k]), &within) && !within,
                      "%s %s", rows[i].key, rows[i].beyond[k]);
        for (size_t k = 0; k < 5 && rows[i].none[k] != NULL; k++)
            cr_expect(!property_type_reads(type, strview_of(rows[i].none[k]), &within) && !within,
                      "%s %s", rows[i].key, rows[i].none[k]);
    }
}

Test(property_type, demands_in_words)
{
    static const struct {
        const char *key, *words;
    } rows[] = {
        {"spark.speculation", "true or false"},
        {"spark.executor.cores", "a whole number from 1 to 2147483647"},
        {"spark.task.maxFailures", "a whole number of at most 2147483647"},
        {"spark.sql.files.maxRecordsPerFile", "a whole number"},
        {"spark.memory.fraction", "a number above 0 and at most 1"},
        {"spark.memory.storageFraction", "a number of at least 0 and below 1"},
        {"spark.executor.memoryOverheadFactor", "a number above 0"},
        {"spark.speculation.multiplier", "a number"},
        {DYNAMIC "schedulerBacklogTimeout", "a length of time such as 30s, of at least 1s"},
        {"spark.locality.wait", "a length of time such as 30s"},
        {"spark.executor.memoryOverhead", "a size such as 512m, from 0m to 2147483647m"},
        {"spark.kryoserializer.buffer.max", "a size such as 512m, of at most 2047m"},
        {"spark.driver.maxResultSize", "a size such as 512m"},
        {"spark.kubernetes.executor.limit.cores",
         "a number of cores such as 2 or 1500m, from 1m to 2147483647"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_str_eq(property_type_describe(property_type_of(strview_of(rows[i].key)), &arena),
                         rows[i].words);
}

/* Spark trims what it reads by type, and no other text. */
Test(property_type, values_in_one_form)
{
    static const struct {
        const char *key, *value, *form;
    } rows[] = {
        {"spark.speculation", " TRUE\t", "true"},
        {"spark.speculation", " yes ", " yes "},
        {"spark.executor.instances", "007", "7"},
        {"spark.executor.instances", " +4 ", "4"},
        {"spark.executor.instances", "000", "0"},
        {"spark.task.maxFailures", "-010", "-10"},
        {"spark.task.maxFailures", "-0", "0"},
        {"spark.executor.instances", "", ""},
        {"spark.executor.instances", "4d", "4d"},
        {"spark.memory.fraction", " 0.60 ", "0.60"},
        {"spark.executor.memory", " 29G ", "29G"},
        {"spark.locality.wait", " 3s", "3s"},
        {"spark.kubernetes.executor.limit.cores", " 7 ", " 7 "},
        {"spark.executor.resource.gpu.amount", " +2", "2"},
        {"spark.task.resource.gpu.amount", " 0.5 ", "0.5"},
        {"spark.app.name", " 007 ", " 007 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strview form =
            property_in_one_form(strview_of(rows[i].key), strview_of(rows[i].value), &arena);
        cr_expect_str_eq(form.at, rows[i].form);
        cr_expect_eq(form.n, strlen(rows[i].form));
    }
}
