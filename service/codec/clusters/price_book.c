#include "codec/clusters/price_book.h"

#include <math.h>
#include <stdlib.h>

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

static int compare_texts(struct strview a, struct strview b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n == 0 ? 0 : memcmp(a.at, b.at, n);
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

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
    int order = compare_texts(subject_of(a->row), subject_of(b->row));
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
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

static void decode_row(const struct codec_node *item, struct price_row *row)
{
    static const char *const known[] = {"machine_type",           "cluster",
                                        "per_executor_hour",      "spot_per_executor_hour",
                                        "interruptions_per_hour", NULL};
    *row = (struct price_row){.price = {(double)NAN, (double)NAN, (double)NAN}};
    if (!codec_expect_object(item))
        return;
    codec_refuse_unknown(item, known);
    bool typed = codec_member(item, "machine_type").json != NULL;
    bool named = codec_member(item, "cluster").json != NULL;
    row->machine_type = codec_name(item, "machine_type", CODEC_OPTIONAL);
    row->cluster = codec_name(item, "cluster", CODEC_OPTIONAL);
    if (typed && named)
        codec_fault_member(item, "cluster", "conflict",
                           "stands beside machine_type; a row prices one of them");
    if (!typed && !named)
        codec_fault_member(item, "machine_type", "required", "is required, or cluster");
    row->price.per_executor_hour =
        codec_number(item, "per_executor_hour", CODEC_REQUIRED, 0, CODEC_PRICE_MAX);
    row->price.spot_per_executor_hour =
        codec_number(item, "spot_per_executor_hour", CODEC_NULLABLE, 0, CODEC_PRICE_MAX);
    row->price.interruptions_per_hour =
        codec_number(item, "interruptions_per_hour", CODEC_NULLABLE, 0, CODEC_INTERRUPTIONS_MAX);
    if (codec_present(item, "interruptions_per_hour") &&
        !codec_present(item, "spot_per_executor_hour"))
        codec_fault_member(item, "spot_per_executor_hour", "required",
                           "goes with interruptions_per_hour");
}

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

static void
decode_prices(const struct codec_node *node, size_t rows_max, struct codec_price_book *book)
{
    struct codec_node list = codec_array(node, "prices", CODEC_REQUIRED, 1, rows_max);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    book->rows = arena_calloc(node->reader->arena, n, sizeof *book->rows);
    if (book->rows == NULL) {
        (void)pv_no_memory(node->reader->err);
        return;
    }
    book->n_rows = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_row(&item, &book->rows[i]);
    }
    refuse_twice(&list, book->rows, n);
}

void codec_price_book_decode(const struct codec_node *node,
                             size_t rows_max,
                             struct codec_price_book *book)
{
    static const char *const known[] = {"currency", "prices", NULL};
    *book = (struct codec_price_book){.rows = NULL};
    codec_refuse_unknown(node, known);
    book->currency = codec_text(node, "currency", CODEC_REQUIRED, 0, SIZE_MAX);
    if (book->currency.at != NULL && !codec_is_currency(book->currency))
        codec_fault_member(node, "currency", "invalid_currency",
                           "must be three capital letters as in ISO 4217, such as EUR");
    decode_prices(node, rows_max, book);
}

static void encode_row(struct writer *w, const struct price_row *row)
{
    writer_begin_object(w);
    writer_member_text(w, is_cluster(row) ? "cluster" : "machine_type", subject_of(row));
    writer_member_number(w, "per_executor_hour", row->price.per_executor_hour);
    if (!isnan(row->price.spot_per_executor_hour))
        writer_member_number(w, "spot_per_executor_hour", row->price.spot_per_executor_hour);
    if (!isnan(row->price.interruptions_per_hour))
        writer_member_number(w, "interruptions_per_hour", row->price.interruptions_per_hour);
    writer_end_object(w);
}

void codec_price_book_encode(struct writer *w, const struct codec_price_book *book, bool prices)
{
    writer_begin_object(w);
    writer_member_string(w, "id", book->id);
    writer_member_text(w, "name", book->name);
    writer_member_text(w, "currency", book->currency);
    writer_member_integer(w, "rows", (int64_t)book->n_rows);
    if (prices) {
        writer_key(w, "prices");
        writer_begin_array(w);
        for (size_t i = 0; i < book->n_rows; i++)
            encode_row(w, &book->rows[i]);
        writer_end_array(w);
    }
    writer_member_integer(w, "version", book->version);
    writer_member_instant(w, "created_at", book->created_us);
    writer_member_instant(w, "updated_at", book->updated_us);
    writer_end_object(w);
}
