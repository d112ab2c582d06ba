#include "codec/clusters/price_book.h"

#include <stdlib.h>

#include "base/order.h"

bool codec_is_currency(struct strview text)
{
    if (text.n != 3)
        return false;
    for (size_t i = 0; i < 3; i++)
        if (text.at[i] < 'A' || text.at[i] > 'Z')
            return false;
    return true;
}

/* --- rows that price the same --- */

struct subject {
    const struct price_row *row;
    size_t index;
};

static bool is_cluster(const struct price_row *row)
{
    return row->cluster.at != NULL;
}

static struct strview subject_of(const struct price_row *row)
{
    return is_cluster(row) ? row->cluster : row->machine_type;
}

static int compare_subjects(const void *left, const void *right)
{
    const struct subject *a = left;
    const struct subject *b = right;
    if (is_cluster(a->row) != is_cluster(b->row))
        return is_cluster(a->row) ? 1 : -1;
    int order = compare_strview(subject_of(a->row), subject_of(b->row));
    return order != 0 ? order : compare_size(a->index, b->index);
}

static bool same_subject(const struct subject *a, const struct subject *b)
{
    return is_cluster(a->row) == is_cluster(b->row) && subject_of(a->row).n > 0 &&
           strview_equal(subject_of(a->row), subject_of(b->row));
}

bool codec_price_find_twice(const struct price_row rows[],
                            size_t n,
                            struct arena *arena,
                            size_t *first,
                            size_t *second,
                            bool *failed)
{
    struct subject *all = arena_array(arena, n, sizeof *all);
    bool found = false;
    *failed = all == NULL;
    if (all == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        all[i] = (struct subject){&rows[i], i};
    qsort(all, n, sizeof *all, compare_subjects);
    for (size_t i = 1; i < n; i++) {
        if (!same_subject(&all[i - 1], &all[i]) || (found && all[i].index > *second))
            continue;
        *first = all[i - 1].index;
        *second = all[i].index;
        found = true;
    }
    return found;
}

/* --- JSON --- */

#define P struct price_row
#define B struct price_book
enum { NULLABLE = CODEC_NULLABLE, REPLY = SHAPE_READ_ONLY, OMIT = SHAPE_OMIT_UNKNOWN };

static const struct shape_member price_members[] = {
    {"machine_type", SHAPE_NAME(P, machine_type), .flags = OMIT},
    {"cluster", SHAPE_NAME(P, cluster), .flags = OMIT},
    {"per_executor_hour", SHAPE_NUMBER(P, price.per_executor_hour), .flags = OMIT,
     .high = CODEC_PRICE_MAX},
    {"spot_per_executor_hour", SHAPE_NUMBER(P, price.spot_per_executor_hour),
     .flags = NULLABLE | OMIT, .high = CODEC_PRICE_MAX},
    {"interruptions_per_hour", SHAPE_NUMBER(P, price.interruptions_per_hour),
     .flags = NULLABLE | OMIT, .high = CODEC_INTERRUPTIONS_MAX},
    {"per_machine_hour", SHAPE_NUMBER(P, price.per_machine_hour), .flags = OMIT,
     .high = CODEC_PRICE_MAX},
    {"spot_per_machine_hour", SHAPE_NUMBER(P, price.spot_per_machine_hour),
     .flags = NULLABLE | OMIT, .high = CODEC_PRICE_MAX},
    {"machine_cores", SHAPE_COUNT(P, price.machine_cores), .flags = NULLABLE | OMIT, .least = 1,
     .most = CODEC_COUNT_MAX},
    {"machine_memory_bytes", SHAPE_COUNT(P, price.machine_memory_bytes), .flags = NULLABLE | OMIT,
     .least = 1, .most = CODEC_BYTES_MAX},
    {"startup_billed_s", SHAPE_NUMBER(P, price.startup_billed_s), .flags = NULLABLE | OMIT,
     .high = CODEC_SECONDS_MAX},
    {"minimum_billed_s", SHAPE_NUMBER(P, price.minimum_billed_s), .flags = NULLABLE | OMIT,
     .high = CODEC_SECONDS_MAX},
    {"billing_increment_s", SHAPE_NUMBER(P, price.billing_increment_s), .flags = NULLABLE | OMIT,
     .high = CODEC_SECONDS_MAX},
};

void codec_price_check(const struct codec_node *object, const char *const names[PRICE_MEMBERS])
{
    bool present[PRICE_MEMBERS];
    struct price_fault faults[PRICE_FAULTS_MAX];
    for (size_t i = 0; i < PRICE_MEMBERS; i++)
        present[i] = codec_present(object, names[i]);
    size_t n = price_rules_check(present, faults);
    for (size_t i = 0; i < n; i++) {
        const struct price_fault *fault = &faults[i];
        const char *because = names[fault->because];
        if (fault->conflicts)
            codec_fault_member(
                object, names[fault->at], "conflict",
                "must be left out where %s is sent: executors are priced, or machines", because);
        else
            codec_fault_member(object, names[fault->at], "required", "must be sent%s where %s is",
                               fault->at == PRICE_MACHINE_CORES ? ", or machine_memory_bytes," : "",
                               because);
    }
}

/* What a row must say in view of its other members. */
static void check_row(const struct codec_node *item, const void *limits, void *object)
{
    (void)limits;
    (void)object;
    bool typed = codec_member(item, "machine_type").json != NULL;
    bool named = codec_member(item, "cluster").json != NULL;
    if (typed && named)
        codec_fault_member(
            item, "cluster", "conflict",
            "must not be given together with machine_type: a row prices one of them");
    if (!typed && !named)
        codec_fault_member(item, "machine_type", "required", "is required, or cluster");
    if (codec_member(item, "per_executor_hour").json == NULL &&
        codec_member(item, "per_machine_hour").json == NULL)
        codec_fault_member(item, "per_executor_hour", "required",
                           "is required, or per_machine_hour");
    codec_price_check(item, price_row_names);
}

const struct shape codec_price_shape = {
    .request = "Price", .reply = "Price", SHAPE_OF(price_members, P), .check = check_row};

static void decode_currency(const struct codec_node *node, const void *limits, void *object)
{
    struct price_book *book = object;
    (void)limits;
    book->currency = codec_text(node, "currency", CODEC_REQUIRED, 0, SIZE_MAX);
    if (book->currency.at != NULL && !codec_is_currency(book->currency))
        codec_fault_member(node, "currency", "invalid_currency",
                           "must be three capital letters as in ISO 4217, such as EUR");
}

static void encode_currency(struct writer *w, const void *object, const void *context)
{
    const struct price_book *book = object;
    (void)context;
    writer_member_text(w, "currency", book->currency);
}

enum { PRICES = SHAPE_GROUP(0) };

static const struct shape_member members[] = {
    {"id", SHAPE_ID(B, id), .flags = REPLY},
    {"name", SHAPE_NAME(B, name), .flags = REPLY},
    {"currency", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_currency,
     .encode = encode_currency},
    {"rows", SHAPE_COUNT(B, row_count), .flags = REPLY, .least = 1},
    {"prices", SHAPE_OBJECTS(B, rows, n_rows, &codec_price_shape), .flags = CODEC_REQUIRED | PRICES,
     .least = 1, SHAPE_LIMIT(struct codec_price_book_limits, rows)},
    {"version", SHAPE_COUNT(B, version), .flags = REPLY, .least = 1},
    {"created_at", SHAPE_INSTANT(B, created_us), .flags = REPLY},
    {"updated_at", SHAPE_INSTANT(B, updated_us), .flags = REPLY},
};

const struct shape codec_price_book_shape = {
    .request = "PriceBookPut", .reply = "PriceBook", SHAPE_OF(members, B)};

const struct shape codec_price_book_summary_shape = {
    .reply = "PriceBookSummary", .reply_without = PRICES, SHAPE_OF(members, B)};

static void refuse_twice(const struct codec_node *list, const struct price_row rows[], size_t n)
{
    size_t first, second;
    bool failed;
    if (codec_price_find_twice(rows, n, list->reader->arena, &first, &second, &failed)) {
        struct codec_node item = codec_item(list, second);
        codec_fault_member(&item, is_cluster(&rows[second]) ? "cluster" : "machine_type",
                           "duplicate", "row %zu prices it already", first);
    }
    if (failed)
        (void)pv_no_memory(list->reader->err);
}

void codec_price_book_decode(const struct codec_node *node,
                             const struct codec_price_book_limits *limits,
                             struct price_book *book)
{
    *book = (struct price_book){.id = ""};
    shape_decode(node, &codec_price_book_shape, limits, book);
    book->row_count = (int64_t)book->n_rows;
    struct codec_node list = codec_member(node, "prices");
    refuse_twice(&list, book->rows, book->n_rows);
}

void codec_price_book_encode(struct writer *w, const struct price_book *book, bool prices)
{
    shape_encode(w, &codec_price_book_shape, book, prices ? 0 : PRICES, NULL);
}
