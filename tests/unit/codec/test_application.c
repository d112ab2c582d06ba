#include "codec/history/application.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct codec_bounds bounds = {.depth = 16, .values = 1000000};

static struct arena arena;
static struct pv_error err;
static struct application application;
static struct application_change changed;
static const struct codec_application_limits limits = {.labels = 2};

static enum pv_code decode(const char *text, bool change)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    struct codec_document document;
    PV_TRY(codec_open(&document, text, strlen(text), &bounds, &arena, &err));
    if (change)
        codec_application_decode_change(&document.top, &limits, &changed);
    else
        codec_application_decode(&document.top, &limits, &application);
    return codec_close(&document);
}

static void fini(void)
{
    arena_fini(&arena);
}

TestSuite(codec_application, .fini = fini);

Test(codec_application, a_new_one_needs_a_name_and_nothing_else)
{
    cr_assert_eq(decode("{\"name\":\"n\\u00e4chtlich/1\"}", false), PV_OK);
    cr_assert(strview_is(application.name, "n\xc3\xa4"
                                           "chtlich/1"));
    cr_assert_null(application.description.at);
    cr_assert_eq(application.n_labels, 0u);
    cr_assert_eq(application.retention_days, RUN_UNKNOWN);
}

Test(codec_application, faults_point_at_their_member)
{
    static const struct {
        const char *text;
        bool change;
        const char *at;
        const char *code;
    } cases[] = {
        {"{}", false, "/name", "required"},
        {"{\"name\":\"\"}", false, "/name", "invalid_name"},
        {"{\"name\":\"a\\nb\"}", false, "/name", "invalid_name"},
        {"{\"name\":\"a\",\"retention\":{}}", false, "/retention", "unknown_field"},
        {"{\"name\":\"a\",\"labels\":{\"a\":\"\",\"b\":\"\",\"c\":\"\"}}", false, "/labels",
         "too_many_items"},
        {"{}", true, "", "required"},
        {"{\"name\":\"a\"}", true, "/name", "unknown_field"},
        {"{\"description\":3}", true, "/description", "wrong_type"},
        {"{\"retention\":{\"days\":0}}", true, "/retention/days", "out_of_range"},
        {"{\"retention\":{\"weeks\":1}}", true, "/retention/weeks", "unknown_field"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(decode(cases[i].text, cases[i].change), PV_E_INVALID, "%s", cases[i].text);
        cr_expect_str_eq(err.faults[0].at, cases[i].at);
        cr_expect_str_eq(err.faults[0].code, cases[i].code);
    }
}

Test(codec_application, a_change_tells_null_from_absent)
{
    cr_assert_eq(decode("{\"description\":null}", true), PV_OK);
    cr_assert(changed.has_description && changed.to.description.at == NULL);
    cr_assert(!changed.has_labels && !changed.has_retention);
    cr_assert_eq(decode("{\"retention\":{\"runs\":5},\"labels\":{}}", true), PV_OK);
    cr_assert(changed.has_retention && changed.has_labels && !changed.has_description);
    cr_assert_eq(changed.to.retention_runs, 5);
    cr_assert_eq(changed.to.retention_days, RUN_UNKNOWN);
}

Test(codec_application, is_written_with_unknown_as_null)
{
    cr_assert_eq(decode("{\"name\":\"a\",\"labels\":{\"z\":\"1\",\"b\":\"2\"}}", false), PV_OK);
    strcpy(application.id, "i");
    application.runs = 3;
    application.created_us = 0;
    application.updated_us = 1500000;
    struct writer w;
    size_t n;
    writer_init(&w, &arena);
    codec_application_encode(&w, &application, 0);
    cr_assert_str_eq(
        writer_finish(&w, &n),
        "{\"id\":\"i\",\"name\":\"a\",\"description\":null,\"labels\":{\"b\":\"2\",\"z\":\"1\"},"
        "\"retention\":{\"days\":null,\"runs\":null},"
        "\"problem_size_measure\":{\"kind\":\"input_blocks\",\"key\":null},\"runs\":3,"
        "\"created_at\":\"1970-01-01T00:00:00Z\","
        "\"updated_at\":\"1970-01-01T00:00:01.500Z\","
        "\"last_run_at\":null,\"last_advice_at\":null}");
}

static const char *written(unsigned include)
{
    struct writer w;
    size_t n;
    writer_init(&w, &arena);
    codec_application_encode(&w, &application, include);
    return strstr(writer_finish(&w, &n), ",\"last_advice_at\"");
}

Test(codec_application, its_latest_run_and_advice_are_written_where_asked)
{
    cr_assert_eq(decode("{\"name\":\"a\"}", false), PV_OK);
    cr_assert_str_eq(written(0), ",\"last_advice_at\":null}");
    cr_assert_str_eq(written(APPLICATION_LAST_RUN | APPLICATION_LAST_ADVICE),
                     ",\"last_advice_at\":null,\"last_run\":null,\"last_advice\":null}");
    application.last_run = (struct application_last_run){.id = "r",
                                                         .problem_size = 1.5,
                                                         .executors = RUN_UNKNOWN,
                                                         .cores_per_executor = 2,
                                                         .duration_s = (double)NAN};
    cr_assert_str_eq(written(APPLICATION_LAST_RUN),
                     ",\"last_advice_at\":null,\"last_run\":{\"id\":\"r\",\"problem_size\":1.5,"
                     "\"problem_size_measured_by\":null,"
                     "\"executors\":null,\"cores_per_executor\":2,\"duration_s\":null,"
                     "\"succeeded\":false}}");
    application.last_advice = (struct application_last_advice){.id = "v",
                                                               .feasible = true,
                                                               .executors = 4,
                                                               .predicted_duration_s = 9.5,
                                                               .deadline_s = (double)NAN,
                                                               .confidence = 0.95,
                                                               .deadline_probability = (double)NAN};
    cr_assert_str_eq(written(APPLICATION_LAST_ADVICE),
                     ",\"last_advice_at\":null,\"last_advice\":{\"id\":\"v\",\"verdict\":null,"
                     "\"feasible\":true,\"executors\":4,\"predicted_duration_s\":9.5,"
                     "\"deadline_s\":null,\"confidence\":0.95,\"deadline_probability\":null}}");
}
