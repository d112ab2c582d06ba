#include "codec/clusters/price_csv.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct arena arena;
static struct pv_error err;
static struct price_book book;

static enum pv_code decode(const char *text, const char *currency)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    return codec_price_csv_decode(strview_of(text), currency, 3, &arena, &book, &err);
}

static void fini(void)
{
    arena_fini(&arena);
}

TestSuite(codec_price_csv, .fini = fini);

Test(codec_price_csv, quotes_hold_commas_quotes_and_line_ends)
{
    cr_assert_eq(
        decode("machine_type,per_executor_hour\r\n\"a,\"\"b\"\"\",1.5\r\n c d ,2\r\n", "EUR"),
        PV_OK);
    cr_assert_eq(book.n_rows, 2u);
    cr_assert(strview_is(book.rows[0].machine_type, "a,\"b\""));
    cr_assert(strview_is(book.rows[1].machine_type, "c d"), "blanks around do not count");
    cr_assert_eq(book.rows[0].price.per_executor_hour, 1.5);
    cr_assert(isnan(book.rows[0].price.spot_per_executor_hour));
    cr_assert(strview_is(book.currency, "EUR"));
    cr_assert_null(book.rows[0].cluster.at);
}

/* The books that a spreadsheet could break: every double and every name comes back as it was. */
Test(codec_price_csv, what_goes_out_reads_back)
{
    struct price_row rows[3] = {{.machine_type = strview_of(" \"x\" ,"),
                                 .price = price_of_executors(0.1 + 0.2, 1e-300, 3600)},
                                {.cluster = strview_of("=1+1"),
                                 .price = price_of_executors(1e12, (double)NAN, (double)NAN)},
                                {.machine_type = strview_of("\xe6\x97\xa5"),
                                 .price = price_of_executors(0, 0, (double)NAN)}};
    const struct price_book given = {.currency = strview_of("CHF"), .rows = rows, .n_rows = 3};
    struct arena own;
    size_t n;
    arena_init(&own, 0);
    const char *text = codec_price_csv_encode(&given, &own, &n);
    const char *copy = arena_strndup(&own, text, n);
    cr_assert_eq(decode(copy, NULL), PV_OK, "%s", err.faults[0].detail);
    cr_assert(strview_is(book.currency, "CHF"));
    for (size_t i = 0; i < 3; i++) {
        cr_assert(strview_equal(book.rows[i].machine_type, rows[i].machine_type));
        cr_assert(strview_equal(book.rows[i].cluster, rows[i].cluster));
        cr_assert_eq(memcmp(&book.rows[i].price.per_executor_hour, &rows[i].price.per_executor_hour,
                            sizeof(double)),
                     0);
    }
    cr_assert_eq(book.rows[0].price.spot_per_executor_hour, 1e-300);
    arena_fini(&own);
}

/* Columns of machines and billing are there where a row has one of them. */
Test(codec_price_csv, machines_and_terms_read_back)
{
    struct price_row rows[2] = {
        {.machine_type = strview_of("m"),
         .price = price_of_executors((double)NAN, (double)NAN, 0.5)},
        {.cluster = strview_of("c"), .price = price_of_executors(1, (double)NAN, (double)NAN)}};
    const struct price_book given = {.currency = strview_of("CHF"), .rows = rows, .n_rows = 2};
    struct arena own;
    size_t n;
    rows[0].price.per_machine_hour = 0.7;
    rows[0].price.spot_per_machine_hour = 0.1;
    rows[0].price.machine_cores = 16;
    rows[0].price.machine_memory_bytes = INT64_C(61000000000);
    rows[1].price.minimum_billed_s = 60;
    arena_init(&own, 0);
    const char *text = codec_price_csv_encode(&given, &own, &n);
    const char *copy = arena_strndup(&own, text, n);
    cr_expect_str_eq(copy,
                     "machine_type,cluster,currency,per_executor_hour,spot_per_executor_hour,"
                     "interruptions_per_hour,per_machine_hour,spot_per_machine_hour,machine_cores,"
                     "machine_memory_bytes,startup_billed_s,minimum_billed_s,billing_increment_s"
                     "\r\n\"m\",,CHF,,,0.5,0.7,0.1,16,61000000000,,,\r\n"
                     ",\"c\",CHF,1,,,,,,,,60,\r\n");
    cr_assert_eq(decode(copy, NULL), PV_OK, "%s", err.faults[0].detail);
    cr_expect(isnan(book.rows[0].price.per_executor_hour));
    cr_expect_eq(book.rows[0].price.per_machine_hour, 0.7);
    cr_expect_eq(book.rows[0].price.machine_cores, 16);
    cr_expect_eq(book.rows[0].price.machine_memory_bytes, INT64_C(61000000000));
    cr_expect_eq(book.rows[1].price.machine_cores, RUN_UNKNOWN);
    cr_expect_eq(book.rows[1].price.minimum_billed_s, 60);
    cr_expect(isnan(book.rows[1].price.billing_increment_s));
    arena_fini(&own);
}

Test(codec_price_csv, faults_tell_line_and_column)
{
    static const struct {
        const char *text, *at, *code, *words;
    } cases[] = {
        {"", "", "required", "line 1: the first line"},
        {"\n\n", "", "required", "line 1: the first line"},
        {"cluster\na\n", "", "required", "per_executor_hour"},
        {"cluster,per_executor_hour,cluster\n", "", "duplicate", "line 1"},
        {"cluster,per_executor_hour,Currency\n", "", "unknown_field", "line 1"},
        {"cluster,per_executor_hour\na\n", "", "malformed_csv", "line 2: has 1 field,"},
        {"cluster,per_executor_hour\na,1\nb,2\nc,3\nd,4\n", "/prices", "too_many_items",
         "line 5: there are more than 3"},
        {"cluster,per_executor_hour\r\n\r\na,1\r\nb,.\r\n", "/prices/1/per_executor_hour",
         "wrong_type", "line 4, column per_executor_hour"},
        {"cluster,per_executor_hour\na,1e\n", "/prices/0/per_executor_hour", "wrong_type",
         "line 2"},
        {"cluster,per_machine_hour,machine_cores\na,1,1.5\n", "/prices/0/machine_cores",
         "out_of_range", "whole number"},
        {"cluster,per_machine_hour,machine_cores\na,1,\n", "/prices/0/machine_cores", "required",
         "must be set where per_machine_hour is"},
        {"cluster,per_machine_hour,machine_cores,per_executor_hour\na,1,4,1\n",
         "/prices/0/per_machine_hour", "conflict", "must be empty where per_executor_hour is set"},
        {"cluster,per_executor_hour\na,1 2\n", "/prices/0/per_executor_hour", "wrong_type",
         "line 2"},
        {"cluster,per_executor_hour\na,-1\n", "/prices/0/per_executor_hour", "out_of_range",
         "line 2"},
        {"cluster,per_executor_hour\na,1\na,2\n", "/prices/1/cluster", "duplicate",
         "line 3, column cluster: line 2"},
        {"cluster,per_executor_hour\na,\"1\n", "", "malformed_csv", "line 2: the end"},
        {"cluster,per_executor_hour\na,1\nb\"c\",1\n", "", "malformed_csv", "line 3: a quote"},
        {"cluster,per_executor_hour\na,1\n\xc3,1\n", "", "not_utf8", "line 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(decode(cases[i].text, "EUR"), PV_E_INVALID, "%s", cases[i].text);
        cr_assert_eq(err.n_faults, 1u, "%s: %zu", cases[i].text, err.n_faults);
        cr_assert_str_eq(err.faults[0].at, cases[i].at, "%s: %s", cases[i].text, err.faults[0].at);
        cr_assert_str_eq(err.faults[0].code, cases[i].code, "%s", cases[i].text);
        cr_assert_not_null(strstr(err.faults[0].detail, cases[i].words), "%s: %s", cases[i].text,
                           err.faults[0].detail);
    }
}

/* A currency in the query and one in the file agree or are a fault. */
Test(codec_price_csv, a_book_has_one_currency)
{
    static const char text[] = "cluster,per_executor_hour,currency\na,1,\nb,2,EUR\n";
    cr_assert_eq(decode(text, NULL), PV_OK);
    cr_assert_eq(decode(text, "EUR"), PV_OK);
    cr_assert_eq(decode(text, "USD"), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "/currency");
    cr_assert_eq(decode("cluster,per_executor_hour\na,1\n", NULL), PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].code, "required");
}

/* Whatever bytes come, the answer is a book or a fault: every cut of a good file, and every one of
 * its bytes replaced by one that means something. */
Test(codec_price_csv, damage_is_a_fault_or_a_book)
{
    static const char text[] = "machine_type,per_executor_hour\r\n\"a\"\"b\",1\r\nc,2e1\r\n";
    static const char marks[] = "\",\r\n e-\xff";
    char damaged[sizeof text];
    for (size_t cut = 0; cut < sizeof text; cut++) {
        memcpy(damaged, text, cut);
        damaged[cut] = '\0';
        enum pv_code code = decode(damaged, "EUR");
        cr_assert((code == PV_OK && err.n_faults == 0) ||
                  (code == PV_E_INVALID && err.n_faults > 0));
    }
    for (size_t at = 0; at + 1 < sizeof text; at++)
        for (const char *mark = marks; *mark != '\0'; mark++) {
            memcpy(damaged, text, sizeof text);
            damaged[at] = *mark;
            enum pv_code code = decode(damaged, "EUR");
            cr_assert((code == PV_OK && err.n_faults == 0) ||
                      (code == PV_E_INVALID && err.n_faults > 0));
        }
}
