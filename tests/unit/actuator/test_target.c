#include "actuator/target.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/configuration.h"
#include "actuator/words.h"

static void
assert_place(const char *pattern, const char *executor, const char *application, const char *wanted)
{
    const struct configuration configuration = {.pattern = pattern};
    const struct grant grant = {.id = executor, .application = application, .worker = "w1"};
    struct failure failure = {.status = EXIT_DONE};
    char place[PLACE_TEXT];
    bool good = target_place(&configuration, &grant, place, &failure);
    cr_assert_eq(good, wanted != NULL, "%s", failure.what);
    if (wanted != NULL)
        cr_assert_str_eq(place, wanted);
}

Test(target, places_follow_the_pattern)
{
    assert_place("{executor}", "a", "etl", "a");
    assert_place("{application}/{executor}", "a", "etl", "etl/a");
    assert_place("x-{worker}.{executor}{application}", "a", "etl", "x-w1.aetl");
    assert_place("{executor", "a", "etl", "{executor");
    assert_place("{executor}", "{application}", "etl", "{application}");
}

Test(target, names_that_are_no_component_make_no_place)
{
    static const char *const bad[] = {"",     ".",    "..",   "/",   "a/b",
                                      "../a", "a/..", "/etc", "a\n", "a\x7f"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_place("{executor}", bad[i], "etl", NULL);
        assert_place("x/{application}/y", "a", bad[i], NULL);
        assert_place("x{executor}", bad[i], "etl", NULL);
    }
    char longest[257];
    memset(longest, 'a', sizeof longest);
    longest[255] = '\0';
    assert_place("{executor}", longest, "etl", longest);
    longest[255] = 'a';
    longest[256] = '\0';
    assert_place("{executor}", longest, "etl", NULL);
}

Test(target, a_place_of_its_own_comes_before_the_pattern)
{
    json_t *executors = json_pack("{s:s}", "a", "own/place");
    const struct configuration configuration = {.pattern = "{executor}", .executors = executors};
    const struct grant grant = {.id = "a", .application = "x", .worker = "w"};
    char place[PLACE_TEXT];
    cr_assert(target_place(&configuration, &grant, place, NULL));
    cr_assert_str_eq(place, "own/place");
    json_decref(executors);
}

Test(words, are_the_same_but_for_numbers)
{
    cr_assert(words_are_same("after 12 ms: no", "after 3 ms: no"));
    cr_assert(words_are_same("after 12 ms", "after 3 ms: no"), "what was cut");
    cr_assert_not(words_are_same("after 12 ms: no", "after 3 ms: yes"));
    cr_assert_not(words_are_same("after 12 ms: no", "after 3 ms"));
}

static void
assert_text(const struct target *target, double cores, const char *cpu_max, const char *wanted)
{
    char text[QUOTA_TEXT];
    target->format(target->context, cores, cpu_max, text);
    cr_assert_str_eq(text, wanted);
}

Test(target, quotas_of_cgroups)
{
    const struct configuration configuration = {.root = "/", .period_us = 50000};
    struct target target;
    cr_assert(cgroup_open(&configuration, &target, NULL));
    assert_text(&target, 1.5, "150000 100000", "150000 100000");
    assert_text(&target, 1.5, NULL, "75000 50000");
    assert_text(&target, 0, NULL, "1000 50000");
    /* What is no quota is not written, wherever it is from. */
    static const char *const odd[] = {"",         "1",          "999 100000", "-5 100000",
                                      "100000 0", "1e5 100000", "a b"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_text(&target, 0.5, odd[i], "25000 50000");
    cr_assert_float_eq(target.cores("150000 100000"), 1.5, 1e-12);
    cr_assert(isinf(target.cores("max 100000")));
    cr_assert(isnan(target.cores("nonsense")));
    target.close(target.context);
}

Test(target, milli_cpus_never_exceed_the_cores)
{
    const struct configuration configuration = {
        .api = "http://127.0.0.1:1", .namespace_name = "spark", .equal_requests = true};
    struct target target;
    cr_assert(kubernetes_open(&configuration, &target, NULL));
    assert_text(&target, 0.35, NULL, "350m 350m");
    assert_text(&target, 0, "100000 100000", "1m 1m");
    for (int quanta = 1; quanta < 400; quanta++) {
        char text[QUOTA_TEXT];
        double cores = quanta * 0.05; /* whole quanta are whole milli-CPUs */
        target.format(target.context, cores, NULL, text);
        cr_assert_eq(strtol(text, NULL, 10), quanta * 50, "%s", text);
        target.format(target.context, cores - 1e-5, NULL, text);
        cr_assert_eq(strtol(text, NULL, 10), quanta * 50 - 1, "%s", text);
    }
    cr_assert_float_eq(target.cores("500m 250m"), 0.5, 1e-12);
    cr_assert_float_eq(target.cores("2 -"), 2, 1e-12);
    cr_assert(isinf(target.cores("- -")));
    target.close(target.context);
}
