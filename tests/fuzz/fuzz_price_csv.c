/*
 * Any bytes as a price book in CSV: a fault that says where, or a book that goes out and comes back
 * the same.
 */
#include "codec/clusters/price_csv.h"
#include "fuzz.h"

static struct price_book read_book(struct strview text, struct arena *arena, enum pv_code want)
{
    struct price_book book = {.rows = NULL};
    struct pv_error err = {0};
    enum pv_code code = codec_price_csv_decode(text, NULL, 1000, arena, &book, &err);
    FUZZ_REQUIRE(want == PV_E_INVALID || code == want);
    FUZZ_REQUIRE((code == PV_OK) == (book.rows != NULL));
    FUZZ_REQUIRE((code == PV_E_INVALID) == (err.n_faults > 0));
    return book;
}

static bool same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

static bool same_row(const struct price_row *a, const struct price_row *b)
{
    return strview_equal(a->machine_type, b->machine_type) &&
           strview_equal(a->cluster, b->cluster) &&
           same_number(a->price.per_executor_hour, b->price.per_executor_hour) &&
           same_number(a->price.spot_per_executor_hour, b->price.spot_per_executor_hour) &&
           same_number(a->price.interruptions_per_hour, b->price.interruptions_per_hour) &&
           same_number(a->price.per_machine_hour, b->price.per_machine_hour) &&
           same_number(a->price.spot_per_machine_hour, b->price.spot_per_machine_hour) &&
           a->price.machine_cores == b->price.machine_cores &&
           a->price.machine_memory_bytes == b->price.machine_memory_bytes &&
           same_number(a->price.startup_billed_s, b->price.startup_billed_s) &&
           same_number(a->price.minimum_billed_s, b->price.minimum_billed_s) &&
           same_number(a->price.billing_increment_s, b->price.billing_increment_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct strview text = {(const char *)data, size};
    struct price_book book = read_book(text, &arena, PV_E_INVALID);
    if (book.rows != NULL) {
        size_t n;
        const char *sheet = codec_price_csv_encode(&book, &arena, &n);
        FUZZ_REQUIRE(sheet != NULL);
        struct price_book again = read_book((struct strview){sheet, n}, &arena, PV_OK);
        FUZZ_REQUIRE(again.n_rows == book.n_rows && strview_equal(again.currency, book.currency));
        for (size_t i = 0; i < book.n_rows; i++)
            FUZZ_REQUIRE(same_row(&book.rows[i], &again.rows[i]));
    }
    arena_fini(&arena);
    return 0;
}
