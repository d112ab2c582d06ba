#include "codec/clusters/price_book.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct codec_bounds bounds = {.depth = 16, .values = 1000};

static struct arena arena;
static struct pv_error err;
static struct price_book book;
static const struct codec_price_book_limits limits = {.rows = 4};

static enum pv_code decode(const char *text)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    struct codec_document document;
    PV_TRY(codec_open(&document, text, strlen(text), &bounds, &arena, &err));
    codec_price_book_decode(&document.top, &limits, &book);
    return codec_close(&document);
}

static void fini(void)
{
    arena_fini(&arena);
}

TestSuite(codec_price_book, .fini = fini);

/* A machine type and a cluster may bear one name. */
Test(codec_price_book, what_is_shown_reads_back)
{
    static const char text[] =
        "{\"currency\":\"EUR\",\"prices\":[{\"machine_type\":\"a\",\"per_executor_hour\":0.5,"
        "\"spot_per_executor_hour\":0.25,\"interruptions_per_hour\":0.5},"
        "{\"cluster\":\"a\",\"per_executor_hour\":0},"
        "{\"machine_type\":\"m\",\"interruptions_per_hour\":0.5,\"per_machine_hour\":0.7,"
        "\"spot_per_machine_hour\":0.1,\"machine_cores\":16,\"machine_memory_bytes\":64000000000,"
        "\"startup_billed_s\":90,\"minimum_billed_s\":60,\"billing_increment_s\":1}]}";
    struct writer w;
    size_t n;
    cr_assert_eq(decode(text), PV_OK);
    strcpy(book.id, "i");
    book.name = strview_of("n");
    writer_init(&w, &arena);
    codec_price_book_encode(&w, &book, true);
    const char *shown = writer_finish(&w, &n);
    const char *prices = strstr(text, "\"prices\"");
    cr_assert_not_null(strstr(shown, "\"currency\":\"EUR\",\"rows\":3,"));
    cr_assert_eq(memcmp(strstr(shown, "\"prices\""), prices, strlen(prices) - 1), 0, "%s", shown);
}

Test(codec_price_book, faults_point_at_their_member)
{
#define BOOK(rows) "{\"currency\":\"EUR\",\"prices\":[" rows "]}"
    static const struct {
        const char *text, *at, *code;
    } cases[] = {
        {"{\"prices\":[{\"cluster\":\"a\",\"per_executor_hour\":1}]}", "/currency", "required"},
        {"{\"currency\":\"EU\",\"prices\":[{\"cluster\":\"a\",\"per_executor_hour\":1}]}",
         "/currency", "invalid_currency"},
        {BOOK(""), "/prices", "too_few_items"},
        {BOOK("1,1,1,1,1"), "/prices", "too_many_items"},
        {BOOK("{\"per_executor_hour\":1}"), "/prices/0/machine_type", "required"},
        {BOOK("{\"machine_type\":\"a\",\"cluster\":\"a\",\"per_executor_hour\":1}"),
         "/prices/0/cluster", "conflict"},
        {BOOK("{\"cluster\":\"a\",\"per_executor_hour\":1,\"interruptions_per_hour\":0}"),
         "/prices/0/spot_per_executor_hour", "required"},
        {BOOK("{\"cluster\":\"a\"}"), "/prices/0/per_executor_hour", "required"},
        {BOOK("{\"cluster\":\"a\",\"per_machine_hour\":1}"), "/prices/0/machine_cores", "required"},
        {BOOK("{\"cluster\":\"a\",\"per_machine_hour\":1,\"machine_cores\":0}"),
         "/prices/0/machine_cores", "out_of_range"},
        {BOOK("{\"cluster\":\"a\",\"per_executor_hour\":1,\"machine_cores\":1}"),
         "/prices/0/per_machine_hour", "required"},
        {BOOK("{\"cluster\":\"a\",\"per_executor_hour\":1,\"spot_per_machine_hour\":1,"
              "\"machine_memory_bytes\":1}"),
         "/prices/0/per_machine_hour", "required"},
        {BOOK("{\"cluster\":\"a\",\"per_executor_hour\":1,\"per_machine_hour\":1,"
              "\"machine_cores\":1}"),
         "/prices/0/per_machine_hour", "conflict"},
        {BOOK("{\"cluster\":\"a\",\"per_machine_hour\":1,\"machine_cores\":1,"
              "\"interruptions_per_hour\":1}"),
         "/prices/0/spot_per_machine_hour", "required"},
        {BOOK("{\"cluster\":\"a\",\"per_executor_hour\":1,\"minimum_billed_s\":-1}"),
         "/prices/0/minimum_billed_s", "out_of_range"},
        {BOOK("{\"cluster\":\"a\",\"per_executor_hour\":1,\"spot_per_executor_hour\":1,"
              "\"interruptions_per_hour\":3601}"),
         "/prices/0/interruptions_per_hour", "out_of_range"},
        {BOOK("{\"cluster\":\"a\",\"per_executor_hour\":1},{\"cluster\":\"b\","
              "\"per_executor_hour\":1},{\"cluster\":\"b\",\"per_executor_hour\":1},"
              "{\"cluster\":\"a\",\"per_executor_hour\":1}"),
         "/prices/2/cluster", "duplicate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(decode(cases[i].text), PV_E_INVALID, "%s", cases[i].text);
        cr_assert_eq(err.n_faults, 1u, "%s", cases[i].text);
        cr_assert_str_eq(err.faults[0].at, cases[i].at, "%s: %s", cases[i].text, err.faults[0].at);
        cr_assert_str_eq(err.faults[0].code, cases[i].code, "%s: %s", cases[i].text,
                         err.faults[0].code);
    }
}
