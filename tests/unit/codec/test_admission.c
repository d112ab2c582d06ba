#include "codec/clusters/admission.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct codec_bounds bounds = {.depth = 16, .values = 1000};
static const struct codec_admission_limits limits = {.cores = 1000, .length_s = 3600};

static struct arena arena;
static struct pv_error err;
static struct admission_question question;
static struct codec_admission_extension extension;

static enum pv_code open_document(const char *text, struct codec_document *document)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    return codec_open(document, text, strlen(text), &bounds, &arena, &err);
}

static enum pv_code decode(const char *text)
{
    struct codec_document document;
    PV_TRY(open_document(text, &document));
    codec_admission_decode(&document.top, &limits, &question);
    return codec_close(&document);
}

static enum pv_code decode_extension(const char *text)
{
    struct codec_document document;
    PV_TRY(open_document(text, &document));
    codec_admission_decode_extension(&document.top, &extension);
    return codec_close(&document);
}

static void fini(void)
{
    arena_fini(&arena);
}

TestSuite(codec_admission, .fini = fini);

#define ADVICE "0190d4a0-0000-7000-8000-000000000000"

Test(codec_admission, every_member_arrives)
{
    cr_assert_eq(decode("{\"advice_id\":\"" ADVICE
                        "\",\"cluster\":\"eu-1\",\"application\":\"etl\","
                        "\"cores\":88,\"cores_min\":0.05,\"memory_bytes\":137438953472,"
                        "\"starts_at\":\"1970-01-01T00:00:01Z\",\"deadline_s\":600,"
                        "\"expires_s\":900.5}"),
                 PV_OK);
    cr_assert_str_eq(question.advice_id, ADVICE);
    cr_assert_str_eq(question.cluster.at, "eu-1");
    cr_assert_str_eq(question.application.at, "etl");
    cr_assert_eq(question.cores, 88);
    cr_assert_eq(question.cores_min, 0.05);
    cr_assert_eq(question.memory_bytes, 137438953472);
    cr_assert_eq(question.starts_us, 1000000);
    cr_assert_eq(question.deadline_s, 600);
    cr_assert_eq(question.expires_s, 900.5);
}

/* With advice all else may be left out, or null: it is not known, and never 0. */
Test(codec_admission, what_is_left_out_is_unknown)
{
    static const char *const texts[] = {
        "{\"advice_id\":\"" ADVICE "\"}",
        "{\"advice_id\":\"" ADVICE "\",\"cluster\":null,\"application\":null,\"cores\":null,"
        "\"cores_min\":null,\"memory_bytes\":null,\"starts_at\":null,\"deadline_s\":null,"
        "\"expires_s\":null}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cr_assert_eq(decode(texts[i]), PV_OK, "%s", texts[i]);
        cr_assert_null(question.cluster.at);
        cr_assert_null(question.application.at);
        cr_assert(isnan(question.cores) && isnan(question.cores_min));
        cr_assert(isnan(question.deadline_s) && isnan(question.expires_s));
        cr_assert_eq(question.memory_bytes, RUN_UNKNOWN);
        cr_assert_eq(question.starts_us, RUN_NO_INSTANT);
    }
}

/* Without advice a deadline or an end is enough, and either may be the only one. */
Test(codec_admission, without_advice_one_end_is_enough)
{
    cr_assert_eq(decode("{\"cluster\":\"c\",\"application\":\"a\",\"cores\":1,\"deadline_s\":1}"),
                 PV_OK);
    cr_assert_str_eq(question.advice_id, "");
    cr_assert_eq(decode("{\"cluster\":\"c\",\"application\":\"a\",\"cores\":1,\"expires_s\":1}"),
                 PV_OK);
    cr_assert(isnan(question.deadline_s));
}

#define BESIDE ",\"cluster\":\"c\",\"application\":\"a\",\"deadline_s\":1}"

Test(codec_admission, faults_point_at_their_member)
{
    static const struct {
        const char *text, *at, *code;
    } cases[] = {
        {"{\"cores\":0" BESIDE, "/cores", "out_of_range"},
        {"{\"cores\":1000.05" BESIDE, "/cores", "out_of_range"},
        {"{\"cores\":1.01" BESIDE, "/cores", "out_of_range"},
        {"{\"cores\":\"1\"" BESIDE, "/cores", "wrong_type"},
        {"{\"cores\":2,\"cores_min\":1.99" BESIDE, "/cores_min", "out_of_range"},
        {"{\"cores\":2,\"cores_min\":2.05" BESIDE, "/cores_min", "out_of_range"},
        {"{\"cores\":2,\"memory_bytes\":0" BESIDE, "/memory_bytes", "out_of_range"},
        {"{\"cores\":2,\"memory_bytes\":1.5" BESIDE, "/memory_bytes", "wrong_type"},
        {"{\"cores\":2,\"starts_at\":\"soon\"" BESIDE, "/starts_at", "invalid_instant"},
        {"{\"cores\":2,\"expires_s\":0" BESIDE, "/expires_s", "out_of_range"},
        {"{\"cores\":2,\"expires_s\":3601" BESIDE, "/expires_s", "out_of_range"},
        {"{\"cores\":2,\"advice_id\":\"x\"" BESIDE, "/advice_id", "invalid_id"},
        {"{\"cores\":2,\"executors\":1" BESIDE, "/executors", "unknown_field"},
        {"{\"cores\":1,\"application\":\"a\",\"deadline_s\":1}", "/cluster", "required"},
        {"{\"cores\":1,\"cluster\":\"c\",\"deadline_s\":1}", "/application", "required"},
        {"{\"cluster\":\"c\",\"application\":\"a\",\"deadline_s\":1}", "/cores", "required"},
        {"{\"cores\":1,\"cluster\":\"c\",\"application\":\"a\"}", "/deadline_s", "required"},
        {"{\"cores\":1,\"cluster\":\"c\",\"application\":\"\",\"deadline_s\":1}", "/application",
         "invalid_name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(decode(cases[i].text), PV_E_INVALID, "%s", cases[i].text);
        cr_assert_eq(err.n_faults, 1u, "%s", cases[i].text);
        cr_assert_str_eq(err.faults[0].at, cases[i].at);
        cr_assert_str_eq(err.faults[0].code, cases[i].code, "%s: %s", cases[i].text,
                         err.faults[0].code);
    }
}

/* Everything that is wrong is reported at once. */
Test(codec_admission, an_empty_question_lacks_all)
{
    cr_assert_eq(decode("{}"), PV_E_INVALID);
    cr_assert_eq(err.n_faults, 4u);
}

Test(codec_admission, an_extension_is_an_instant)
{
    cr_assert_eq(decode_extension("{\"expires_at\":\"1970-01-01T00:00:02.5Z\"}"), PV_OK);
    cr_assert_eq(extension.expires_us, 2500000);
    static const char *const wrong[][2] = {{"{}", "required"},
                                           {"{\"expires_at\":null}", "wrong_type"},
                                           {"{\"expires_at\":60}", "wrong_type"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_eq(decode_extension(wrong[i][0]), PV_E_INVALID, "%s", wrong[i][0]);
        cr_assert_str_eq(err.faults[0].at, "/expires_at");
        cr_assert_str_eq(err.faults[0].code, wrong[i][1], "%s: %s", wrong[i][0],
                         err.faults[0].code);
    }
}

static const char *encode(const struct admission *admission)
{
    struct writer w;
    size_t n;
    arena_fini(&arena);
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    codec_admission_encode(&w, admission);
    return writer_finish(&w, &n);
}

Test(codec_admission, is_written_with_null_for_what_is_unknown)
{
    struct admission admission = {.id = "0190d4a0-0000-7000-8000-000000000001",
                                  .cluster = strview_of("eu-1"),
                                  .application = strview_of("a\"b"),
                                  .cores = 88,
                                  .granted_cores = 40.05,
                                  .memory_bytes = RUN_UNKNOWN,
                                  .starts_us = 0,
                                  .deadline_us = RUN_NO_INSTANT,
                                  .expires_us = 1500000,
                                  .ended_us = RUN_NO_INSTANT,
                                  .created_us = 0};
    cr_assert_str_eq(encode(&admission),
                     "{\"id\":\"0190d4a0-0000-7000-8000-000000000001\",\"cluster\":\"eu-1\","
                     "\"application\":\"a\\\"b\",\"advice_id\":null,\"status\":\"held\","
                     "\"cores\":88,\"granted_cores\":40.05,\"memory_bytes\":null,"
                     "\"starts_at\":\"1970-01-01T00:00:00Z\",\"deadline_at\":null,"
                     "\"expires_at\":\"1970-01-01T00:00:01.500Z\",\"ended_at\":null,"
                     "\"run_id\":null,\"created_at\":\"1970-01-01T00:00:00Z\"}");
}

Test(codec_admission, is_written_with_all_that_is_known)
{
    struct admission admission = {.id = "0190d4a0-0000-7000-8000-000000000001",
                                  .cluster = strview_of("c"),
                                  .application = strview_of("a"),
                                  .advice_id = ADVICE,
                                  .status = ADMISSION_RELEASED,
                                  .cores = 1,
                                  .granted_cores = 1,
                                  .memory_bytes = 17179869184,
                                  .deadline_us = 1000000,
                                  .expires_us = 2000000,
                                  .ended_us = 3000000,
                                  .run_id = "0190d4a0-0000-7000-8000-000000000002"};
    const char *text = encode(&admission);
    cr_assert_not_null(strstr(text, "\"advice_id\":\"" ADVICE "\",\"status\":\"released\""));
    cr_assert_not_null(strstr(text, "\"memory_bytes\":17179869184,"));
    cr_assert_not_null(strstr(text, "\"deadline_at\":\"1970-01-01T00:00:01Z\""));
    cr_assert_not_null(strstr(text, "\"ended_at\":\"1970-01-01T00:00:03Z\""));
    cr_assert_not_null(strstr(text, "\"run_id\":\"0190d4a0-0000-7000-8000-000000000002\""));
    admission.status = ADMISSION_EXPIRED;
    cr_assert_not_null(strstr(encode(&admission), "\"status\":\"expired\""));
}
