/* What a reply to a log means: its outcome, whether that lasts, and whether there is any use in the next log. */
#include "cli/ingest/send.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

static enum send_verdict
judge(long status, const char *text, bool unfinished, struct log_result *result)
{
    struct remote_reply reply = {.status = status};
    struct failure failure = {.status = EXIT_DONE};
    *result = (struct log_result){.name = "log"};
    reply.json = json_loads(text, 0, NULL);
    failure.status = status >= 200 && status < 300 ? EXIT_DONE : EXIT_FAILED;
    failure.unavailable = status == 503 || status == 429;
    enum send_verdict verdict = send_judge(&reply, unfinished, result, &failure);
    json_decref(reply.json);
    return verdict;
}

Test(ingest_judge, an_outcome_that_lasts)
{
    static const struct {
        long status;
        const char *text;
        bool unfinished;
        enum log_outcome outcome;
        const char *code;
    } cases[] = {
        {201, "{\"id\":\"1\",\"application\":\"a\",\"warnings\":[]}", false, LOG_STORED, ""},
        {200, "{\"id\":\"1\",\"application\":\"a\",\"warnings\":[]}", false, LOG_DUPLICATE, ""},
        {201,
         "{\"id\":\"1\",\"application\":\"a\",\"warnings\":[{\"code\":\"no_application_end\"}]}",
         false, LOG_STORED, "no_application_end"},
        {422,
         "{\"type\":\"/problems/"
         "invalid\",\"errors\":[{\"pointer\":\"\",\"code\":\"no_application_start\"}]}",
         false, LOG_IGNORED, "no_application_start"},
        {422,
         "{\"errors\":[{\"pointer\":\"\",\"code\":\"no_application_start\",\"detail\":\"lines are "
         "missing. Send the whole log\"}]}",
         false, LOG_REJECTED, "no_application_start"},
        {422, "{\"errors\":[{\"pointer\":\"\",\"code\":\"truncated\"}]}", true, LOG_REJECTED,
         "truncated"},
        {422,
         "{\"type\":\"/problems/invalid\",\"errors\":[{\"pointer\":\"\",\"code\":\"no_name\"}]}",
         false, LOG_REJECTED, "no_name"},
        {409, "{\"type\":\"/problems/conflict\"}", false, LOG_REJECTED, "conflict"},
        {409, "{\"type\":\"/problems/conflict\"}", true, LOG_DUPLICATE, "no_application_end"},
        {413, "{\"type\":\"urn:x:body_too_large\"}", false, LOG_REJECTED, "body_too_large"},
        {415, "{\"type\":\"/problems/unsupported_media_type\"}", false, LOG_REJECTED,
         "unsupported_media_type"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_result result;
        cr_expect_eq(judge(cases[i].status, cases[i].text, cases[i].unfinished, &result),
                     SEND_FINAL, "case %zu", i);
        cr_expect_eq(result.outcome, cases[i].outcome, "case %zu", i);
        cr_expect_str_eq(result.code, cases[i].code, "case %zu", i);
    }
}

Test(ingest_judge, an_outcome_that_may_be_another_next_time)
{
    struct log_result result;
    cr_expect_eq(judge(500, "{\"type\":\"/problems/internal\",\"detail\":\"oh\"}", false, &result),
                 SEND_PASSED);
    cr_expect_eq(result.outcome, LOG_REJECTED);
    cr_expect_str_eq(result.reason, "oh");
    cr_expect_eq(judge(422, "{\"type\":\"/problems/storage_quota_exceeded\"}", false, &result),
                 SEND_PASSED);
    cr_expect_eq(result.outcome, LOG_REJECTED);
}

Test(ingest_judge, no_outcome)
{
    struct log_result result;
    static const char problem[] = "{\"type\":\"/problems/x\"}";
    cr_expect_eq(judge(0, "", false, &result), SEND_AWAY);
    cr_expect_eq(judge(503, problem, false, &result), SEND_AWAY);
    cr_expect_eq(judge(429, problem, false, &result), SEND_AWAY);
    cr_expect_eq(judge(401, problem, false, &result), SEND_REFUSED);
    cr_expect_eq(judge(403, problem, false, &result), SEND_REFUSED);
    cr_expect_eq(judge(404, problem, false, &result), SEND_REFUSED);
    cr_expect_eq(judge(400, "<html>", false, &result), SEND_REFUSED);
    cr_expect_eq(
        judge(422, "{\"errors\":[{\"parameter\":\"advice_id\",\"code\":\"x\"}]}", false, &result),
        SEND_REFUSED);
}

Test(ingest_judge, the_service_s_word_counts)
{
    struct remote_reply reply = {.status = 200, .log_outcome = "replaced"};
    struct failure failure = {.status = EXIT_DONE};
    struct log_result result = {.name = "log"};
    reply.json = json_loads("{\"warnings\":[]}", 0, NULL);
    cr_expect_eq(send_judge(&reply, false, &result, &failure), SEND_FINAL);
    cr_expect_eq(result.outcome, LOG_REPLACED);
    json_decref(reply.json);
}
