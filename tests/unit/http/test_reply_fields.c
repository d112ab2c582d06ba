/* ?fields=: which names are legal, what is said about others, and what is left of a reply. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "http/reply_fields.h"

static const struct http_members texts = {.is_map = true};
static const struct http_member choice_members[] = {{"executors", NULL}, {"cost", NULL}};
static const struct http_members choice = {.members = choice_members, .n = 2};
static const struct http_members choices = {.is_map = true, .values = &choice};
static const struct http_member spark_members[] = {{"properties", &texts}, {"changes", &choice}};
static const struct http_members spark = {.members = spark_members, .n = 2};
static const struct http_member members[] = {{"id", NULL},
                                             {"verdict", NULL},
                                             {"recommendation", &choice},
                                             {"spark", &spark},
                                             {"by_name", &choices}};
static const struct http_members top = {.members = members, .n = 5};
static const struct http_reply_members rows[] = {
    {"/v1/advice/{id}", HTTP_GET, false, &top},
    {"/v1/advice", HTTP_GET, true, &top},
    {.template = NULL},
};

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(reply_fields, .init = setup, .fini = teardown);

static const char document[] =
    "{\"id\":\"1\",\"verdict\":\"met\",\"recommendation\":{\"executors\":4,\"cost\":0.125},"
    "\"spark\":{\"properties\":{\"spark.executor.cores\":\"4\",\"spark.memory\":\"8g\"},"
    "\"changes\":[{\"executors\":1,\"cost\":2}]},\"by_name\":{\"a\":{\"executors\":1,\"cost\":3}}}";

static void expect(const char *fields, const char *part)
{
    struct pv_error err = {0};
    const struct json_selection *selection = NULL;
    struct http_response response = {.status = 200, .body = document, .body_n = strlen(document)};
    cr_assert_eq(http_reply_fields_parse(fields, &rows[0], 8, &arena, &selection, &err), PV_OK,
                 "%s: %s", fields, err.faults[0].detail);
    cr_assert_eq(http_reply_fields_apply(selection, &arena, &response, &err), PV_OK);
    cr_assert_str_eq(response.body, part);
    cr_assert_eq(response.body_n, strlen(part));
}

Test(reply_fields, names_paths_and_keys_select)
{
    expect("verdict", "{\"verdict\":\"met\"}");
    expect("verdict,id", "{\"id\":\"1\",\"verdict\":\"met\"}");
    expect(" verdict , id ", "{\"id\":\"1\",\"verdict\":\"met\"}");
    expect("recommendation.cost", "{\"recommendation\":{\"cost\":0.125}}");
    expect("spark.changes.cost", "{\"spark\":{\"changes\":[{\"cost\":2}]}}");
    expect("spark.properties.spark.executor.cores",
           "{\"spark\":{\"properties\":{\"spark.executor.cores\":\"4\"}}}");
    expect("spark.properties.spark.other", "{\"spark\":{\"properties\":{}}}");
    expect("by_name.a.cost,by_name.b", "{\"by_name\":{\"a\":{\"cost\":3}}}");
}

Test(reply_fields, all_of_a_value_outweighs_its_members_in_any_order)
{
    const char *whole = "{\"recommendation\":{\"executors\":4,\"cost\":0.125}}";
    expect("recommendation,recommendation.cost", whole);
    expect("recommendation.cost,recommendation", whole);
    expect("recommendation.cost,recommendation.executors,recommendation.cost", whole);
}

static const struct pv_fault *
refuse(const char *fields, size_t most, struct pv_error *err, size_t n_faults)
{
    const struct json_selection *selection = NULL;
    *err = (struct pv_error){.code = PV_OK};
    cr_assert_eq(http_reply_fields_parse(fields, &rows[0], most, &arena, &selection, err),
                 PV_E_INVALID, "%s", fields);
    cr_assert_eq(err->n_faults, n_faults, "%s", fields);
    cr_assert_str_eq(err->faults[0].at, "fields");
    return err->faults;
}

Test(reply_fields, a_name_that_no_reply_has_is_refused_with_the_nearest)
{
    struct pv_error err;
    const struct pv_fault *faults = refuse("verdikt,id,spark.propertys", 8, &err, 2);
    cr_assert_str_eq(faults[0].code, "unknown_field");
    cr_assert_str_eq(faults[0].detail, "the reply never has verdikt; did you mean verdict?");
    cr_assert_str_eq(faults[1].detail,
                     "the reply never has spark.propertys; did you mean spark.properties?");
    cr_assert_str_eq(refuse("other", 8, &err, 1)[0].detail, "the reply never has other");
    /* Also of a member whose whole is selected already. */
    cr_assert_str_eq(refuse("spark,spark.nothing", 8, &err, 1)[0].code, "unknown_field");
}

Test(reply_fields, names_without_text_and_members_of_what_has_none_are_refused)
{
    static const char *const wrong[] = {",",        "id, ",        "id .x",
                                        "id,",      "verdict.",    ".verdict",
                                        "id.x",     "Id",          "recommendation..cost",
                                        "by_name.", "by_name.a.x", "spark.properties."};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pv_error err;
        (void)refuse(wrong[i], 8, &err, strcmp(wrong[i], ",") == 0 ? 2 : 1);
        cr_expect_str_eq(err.faults[0].code, "unknown_field", "%s", wrong[i]);
    }
}

Test(reply_fields, number_and_length_are_bounded)
{
    struct pv_error err;
    char text[HTTP_FIELDS_BYTES_MAX + 2];
    const char *at_most = "id,verdict,spark";
    expect("id,verdict,by_name,spark.changes,recommendation,spark.properties", document);
    cr_assert_str_eq(refuse(at_most, 2, &err, 1)[0].code, "too_many_items");
    cr_assert_not_null(strstr(err.faults[0].detail, "fields_max"));
    cr_assert_str_eq(refuse("", 2, &err, 1)[0].code, "out_of_range");
    (void)snprintf(text, sizeof text, "spark.properties.%0*d", HTTP_FIELDS_BYTES_MAX - 17, 0);
    expect(text, "{\"spark\":{\"properties\":{}}}");
    (void)snprintf(text, sizeof text, "spark.properties.%0*d", HTTP_FIELDS_BYTES_MAX - 16, 0);
    cr_assert_str_eq(refuse(text, 2, &err, 1)[0].code, "out_of_range");
}

Test(reply_fields, of_a_page_the_items_are_selected_from)
{
    struct pv_error err = {0};
    const struct json_selection *selection = NULL;
    const char *body = "{\"items\":[{\"id\":\"1\",\"verdict\":\"met\"}],\"next_cursor\":\"n\"}";
    struct http_response response = {.status = 200, .body = body, .body_n = strlen(body)};
    cr_assert_eq(http_reply_fields_parse("id", &rows[1], 8, &arena, &selection, &err), PV_OK);
    cr_assert_eq(http_reply_fields_apply(selection, &arena, &response, &err), PV_OK);
    cr_assert_str_eq(response.body, "{\"items\":[{\"id\":\"1\"}],\"next_cursor\":\"n\"}");
}

Test(reply_fields, no_body_stays_none_and_what_is_not_json_is_refused)
{
    struct pv_error err = {0};
    const struct json_selection *selection = NULL;
    cr_assert_eq(http_reply_fields_parse("id", &rows[0], 8, &arena, &selection, &err), PV_OK);
    struct http_response response = {.status = 304};
    cr_assert_eq(http_reply_fields_apply(selection, &arena, &response, &err), PV_OK);
    response = (struct http_response){
        .status = 200, .content_type = "text/csv", .body = "a,b", .body_n = 3};
    cr_assert_eq(http_reply_fields_apply(selection, &arena, &response, &err), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "fields");
    cr_assert_not_null(strstr(err.faults[0].detail, "text/csv"));
}

Test(reply_fields, the_row_is_that_of_method_and_template)
{
    struct http_request request = {.method = HTTP_GET, .template = "/v1/advice"};
    cr_assert_eq(http_reply_members_find(rows, &request), &rows[1]);
    cr_assert_null(http_reply_members_find(NULL, &request));
    request.method = HTTP_POST;
    cr_assert_null(http_reply_members_find(rows, &request));
}
