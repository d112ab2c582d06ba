#include "codec/clusters/price_csv.h"

#include <csv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"

/* Those of a price in the order of enum price_member. */
enum column {
    MACHINE_TYPE,
    CLUSTER,
    CURRENCY,
    HOUR,
    SPOT,
    INTERRUPTIONS,
    MACHINE_HOUR,
    MACHINE_SPOT,
    MACHINE_CORES,
    MACHINE_MEMORY,
    STARTUP,
    MINIMUM,
    INCREMENT,
    COLUMNS
};

static const char *const names[COLUMNS] = {"machine_type",
                                           "cluster",
                                           "currency",
                                           "per_executor_hour",
                                           "spot_per_executor_hour",
                                           "interruptions_per_hour",
                                           "per_machine_hour",
                                           "spot_per_machine_hour",
                                           "machine_cores",
                                           "machine_memory_bytes",
                                           "startup_billed_s",
                                           "minimum_billed_s",
                                           "billing_increment_s"};

enum { FIELDS_MAX = 32, FIELD_BLOCK = 4096 };

/* The file as far as it is read. */
struct table {
    struct arena *arena;
    struct pv_error *err;
    struct price_book *book;
    size_t rows_max;
    size_t *lines; /* lines[i]: where row i begins */
    /* the record that is being read */
    struct strview fields[FIELDS_MAX];
    size_t n_fields; /* may exceed FIELDS_MAX: then only the first are kept */
    size_t line;     /* physical line, from 1 */
    size_t begin;    /* the one on which the record's first field ends */
    /* of the header */
    bool has_header;
    size_t n_columns;
    enum column columns[FIELDS_MAX];
    bool failed; /* memory is exhausted */
    bool ended;  /* nothing more is worth reading */
};

/* --- faults --- */

static void
fault_at_line(struct table *t, const char *pointer, const char *code, size_t line, const char *what)
{
    (void)pv_fault(t->err, PV_PLACE_POINTER, pointer, code, "line %zu: %s", line, what);
}

static void fault_at_cell(struct table *t, enum column column, const char *code, const char *what)
{
    char pointer[64];
    if (column == CURRENCY)
        (void)snprintf(pointer, sizeof pointer, "/currency");
    else
        (void)snprintf(pointer, sizeof pointer, "/prices/%zu/%s", t->book->n_rows, names[column]);
    (void)pv_fault(t->err, PV_PLACE_POINTER, pointer, code, "line %zu, column %s: %s", t->begin,
                   names[column], what);
}

/* --- the header --- */

static bool has_column(const struct table *t, enum column column)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i] == column)
            return true;
    return false;
}

static void take_column(struct table *t, struct strview name)
{
    enum column column = 0;
    while (column < COLUMNS && !strview_is(name, names[column]))
        column++;
    if (column == COLUMNS)
        fault_at_line(t, "", "unknown_field", t->begin,
                      "names a column that is none of machine_type, cluster, currency, "
                      "per_executor_hour, spot_per_executor_hour, interruptions_per_hour, "
                      "per_machine_hour, spot_per_machine_hour, machine_cores, "
                      "machine_memory_bytes, startup_billed_s, minimum_billed_s, "
                      "billing_increment_s");
    else if (has_column(t, column))
        fault_at_line(t, "", "duplicate", t->begin, "names a column twice");
    else
        t->columns[t->n_columns++] = column;
}

static void price_csv_take_header(struct table *t)
{
    size_t faults = t->err->n_faults;
    t->has_header = true;
    for (size_t i = 0; i < t->n_fields && i < FIELDS_MAX; i++)
        take_column(t, t->fields[i]);
    if (t->err->n_faults == faults && !has_column(t, HOUR) && !has_column(t, MACHINE_HOUR))
        fault_at_line(t, "", "required", t->begin,
                      "lacks the column per_executor_hour, or per_machine_hour");
    if (t->err->n_faults == faults && !has_column(t, MACHINE_TYPE) && !has_column(t, CLUSTER))
        fault_at_line(t, "", "required", t->begin, "lacks the column machine_type, or cluster");
    t->ended = t->err->n_faults != faults;
}

/* --- cells --- */

static struct strview read_name(struct table *t, enum column column, struct strview text)
{
    if (text.n == 0)
        return (struct strview){NULL, 0};
    if (codec_is_name(text))
        return text;
    fault_at_cell(t, column, "invalid_name",
                  "must be 1 to 255 characters without control characters");
    return (struct strview){NULL, 0};
}

/* Digits with a point among them, and an exponent; not what strtod takes besides. */
static bool is_number(struct strview text)
{
    size_t i = text.n > 0 && text.at[0] == '-' ? 1 : 0;
    size_t digits = 0;
    for (; i < text.n && text.at[i] >= '0' && text.at[i] <= '9'; i++)
        digits++;
    if (i < text.n && text.at[i] == '.')
        for (i++; i < text.n && text.at[i] >= '0' && text.at[i] <= '9'; i++)
            digits++;
    if (digits == 0)
        return false;
    if (i < text.n && (text.at[i] == 'e' || text.at[i] == 'E')) {
        i++;
        if (i < text.n && (text.at[i] == '+' || text.at[i] == '-'))
            i++;
        if (i == text.n)
            return false;
        while (i < text.n && text.at[i] >= '0' && text.at[i] <= '9')
            i++;
    }
    return i == text.n;
}

static double read_number(struct table *t, enum column column, struct strview text, double most)
{
    if (text.n == 0)
        return (double)NAN;
    double value = is_number(text) ? strtod(text.at, NULL) : (double)NAN;
    if (value >= 0 && value <= most)
        return fabs(value); /* "-0" is 0 */
    char what[80];
    (void)snprintf(what, sizeof what, "must be a number from 0 to %.15g", most);
    fault_at_cell(t, column, isnan(value) ? "wrong_type" : "out_of_range", what);
    return (double)NAN;
}

static int64_t read_count(struct table *t, enum column column, struct strview text, int64_t most)
{
    double value = read_number(t, column, text, (double)most);
    if (isnan(value))
        return RUN_UNKNOWN;
    if (value >= 1 && value == floor(value))
        return (int64_t)value;
    fault_at_cell(t, column, "out_of_range", "must be a whole number of at least 1");
    return RUN_UNKNOWN;
}

static void read_currency(struct table *t, struct strview text)
{
    if (text.n == 0)
        return;
    if (!codec_is_currency(text))
        fault_at_cell(t, CURRENCY, "invalid_currency",
                      "must be three capital letters as in ISO 4217, such as EUR");
    else if (t->book->currency.at == NULL)
        t->book->currency = text;
    else if (!strview_equal(t->book->currency, text))
        fault_at_cell(t, CURRENCY, "conflict", "a book has one currency; an earlier one differs");
}

/* --- rows --- */

static struct strview cell(const struct table *t, enum column column)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i] == column)
            return t->fields[i];
    return (struct strview){NULL, 0};
}

static void check_members(struct table *t)
{
    bool present[PRICE_MEMBERS];
    struct price_fault faults[PRICE_FAULTS_MAX];
    for (size_t i = 0; i < PRICE_MEMBERS; i++)
        present[i] = cell(t, (enum column)(HOUR + i)).n > 0;
    size_t n = price_rules_check(present, faults);
    for (size_t i = 0; i < n; i++) {
        char what[96];
        (void)snprintf(what, sizeof what,
                       faults[i].conflicts ? "must be empty where %s is set"
                                           : "must be set where %s is",
                       price_row_names[faults[i].because]);
        fault_at_cell(t, (enum column)(HOUR + faults[i].at),
                      faults[i].conflicts ? "conflict" : "required", what);
    }
}

static void check_row(struct table *t)
{
    bool typed = cell(t, MACHINE_TYPE).n > 0;
    bool named = cell(t, CLUSTER).n > 0;
    if (typed && named)
        fault_at_cell(t, CLUSTER, "conflict", "machine_type is given too; a row prices one");
    if (!typed && !named)
        fault_at_cell(t, MACHINE_TYPE, "required", "is empty, and so is cluster");
    if (cell(t, HOUR).n == 0 && cell(t, MACHINE_HOUR).n == 0)
        fault_at_cell(t, HOUR, "required", "is empty");
    check_members(t);
}

static double read_cell(struct table *t, enum column column, double most)
{
    return read_number(t, column, cell(t, column), most);
}

static struct price read_price(struct table *t)
{
    return (struct price){
        .per_executor_hour = read_cell(t, HOUR, CODEC_PRICE_MAX),
        .spot_per_executor_hour = read_cell(t, SPOT, CODEC_PRICE_MAX),
        .interruptions_per_hour = read_cell(t, INTERRUPTIONS, CODEC_INTERRUPTIONS_MAX),
        .per_machine_hour = read_cell(t, MACHINE_HOUR, CODEC_PRICE_MAX),
        .spot_per_machine_hour = read_cell(t, MACHINE_SPOT, CODEC_PRICE_MAX),
        .machine_cores = read_count(t, MACHINE_CORES, cell(t, MACHINE_CORES), CODEC_COUNT_MAX),
        .machine_memory_bytes =
            read_count(t, MACHINE_MEMORY, cell(t, MACHINE_MEMORY), CODEC_BYTES_MAX),
        .startup_billed_s = read_cell(t, STARTUP, CODEC_SECONDS_MAX),
        .minimum_billed_s = read_cell(t, MINIMUM, CODEC_SECONDS_MAX),
        .billing_increment_s = read_cell(t, INCREMENT, CODEC_SECONDS_MAX)};
}

static void take_row(struct table *t)
{
    struct price_book *book = t->book;
    char what[96];
    if (t->n_fields != t->n_columns) {
        (void)snprintf(what, sizeof what, "has %zu field%s, and the first line names %zu column%s",
                       t->n_fields, PLURAL(t->n_fields), t->n_columns, PLURAL(t->n_columns));
        fault_at_line(t, "", "malformed_csv", t->begin, what);
        t->ended = true;
        return;
    }
    if (book->n_rows == t->rows_max) {
        (void)snprintf(what, sizeof what, "there are more than %zu price%s (prices_max)",
                       t->rows_max, PLURAL(t->rows_max));
        fault_at_line(t, "/prices", "too_many_items", t->begin, what);
        t->ended = true;
        return;
    }
    struct price_row *row = &book->rows[book->n_rows];
    row->machine_type = read_name(t, MACHINE_TYPE, cell(t, MACHINE_TYPE));
    row->cluster = read_name(t, CLUSTER, cell(t, CLUSTER));
    read_currency(t, cell(t, CURRENCY));
    row->price = read_price(t);
    check_row(t);
    t->lines[book->n_rows++] = t->begin;
}

/* --- what libcsv calls --- */

static void on_field(void *bytes, size_t n, void *context)
{
    struct table *t = context;
    if (t->ended || t->failed)
        return;
    if (t->n_fields == 0)
        t->begin = t->line;
    if (t->n_fields < FIELDS_MAX) {
        char *copy = arena_strndup(t->arena, n == 0 ? "" : bytes, n);
        t->failed = copy == NULL;
        t->fields[t->n_fields] = (struct strview){copy, n};
    }
    t->n_fields++;
}

static void on_record(int end, void *context)
{
    struct table *t = context;
    (void)end;
    if (!t->ended && !t->failed && t->has_header)
        take_row(t);
    else if (!t->ended && !t->failed)
        price_csv_take_header(t);
    t->n_fields = 0;
}

/* --- the file --- */

/* Up to and including its end, LF or CR (of CR LF the LF is a line of its own, without text). */
static size_t line_length(struct strview rest)
{
    size_t n = 0;
    while (n < rest.n && rest.at[n] != '\n' && rest.at[n] != '\r')
        n++;
    return n < rest.n ? n + 1 : n;
}

static void refuse_parse(struct table *t, const struct csv_parser *parser)
{
    if (parser->status != CSV_EPARSE)
        t->failed = true;
    else
        fault_at_line(t, "", "malformed_csv", t->line,
                      "a quote inside a field that is not in quotes, or text behind the "
                      "closing quote of one that is");
    t->ended = true;
}

/* Line by line, so that each field has the line it ends on. */
static void parse_lines(struct table *t, struct csv_parser *parser, struct strview rest)
{
    t->line = 1;
    while (rest.n > 0 && !t->ended && !t->failed) {
        size_t n = line_length(rest);
        bool half = rest.at[n - 1] == '\r' && n < rest.n && rest.at[n] == '\n';
        if (!strview_is_utf8((struct strview){rest.at, n})) {
            fault_at_line(t, "", "not_utf8", t->line, "holds bytes that are not UTF-8");
            t->ended = true;
            return;
        }
        if (csv_parse(parser, rest.at, n, on_field, on_record, t) != n)
            refuse_parse(t, parser);
        rest = (struct strview){rest.at + n, rest.n - n};
        t->line += half ? 0 : 1;
    }
}

static void finish_lines(struct table *t, struct csv_parser *parser)
{
    if (t->ended || t->failed)
        return;
    if (csv_fini(parser, on_field, on_record, t) != 0) {
        fault_at_line(t, "", "malformed_csv", t->line - 1,
                      "the end was reached inside a field whose quotes are not closed");
        t->ended = true;
    }
}

static void price_csv_parse(struct table *t, struct strview text)
{
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        t->failed = true;
        return;
    }
    csv_set_blk_size(&parser, FIELD_BLOCK);
    if (text.n >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0)
        text = (struct strview){text.at + 3, text.n - 3};
    parse_lines(t, &parser, text);
    finish_lines(t, &parser);
    csv_free(&parser);
}

/* --- the book as a whole --- */

static void refuse_twice(struct table *t)
{
    size_t first, second;
    bool failed;
    const struct price_book *book = t->book;
    if (codec_price_find_twice(book->rows, book->n_rows, t->arena, &first, &second, &failed)) {
        char pointer[64];
        const char *member = book->rows[second].cluster.at != NULL ? "cluster" : "machine_type";
        (void)snprintf(pointer, sizeof pointer, "/prices/%zu/%s", second, member);
        (void)pv_fault(t->err, PV_PLACE_POINTER, pointer, "duplicate",
                       "line %zu, column %s: line %zu prices it already", t->lines[second], member,
                       t->lines[first]);
    }
    t->failed |= failed;
}

static void check_book(struct table *t)
{
    if (!t->has_header)
        fault_at_line(t, "", "required", 1, "the first line must name the columns");
    else if (t->book->n_rows == 0)
        fault_at_line(t, "/prices", "too_few_items", t->line, "there is no price");
    else if (t->book->currency.at == NULL)
        fault_at_line(t, "/currency", "required", 1,
                      "there is no currency; give it in a column of that name, or as ?currency=");
    else
        refuse_twice(t);
}

/* No more rows than lines. */
static bool price_csv_make_room(struct table *t, struct strview text)
{
    size_t lines = 1;
    for (size_t i = 0; i < text.n; i++)
        lines += text.at[i] == '\n' || text.at[i] == '\r';
    size_t room = lines < t->rows_max ? lines : t->rows_max;
    t->book->rows = arena_calloc(t->arena, room, sizeof *t->book->rows);
    t->lines = arena_array(t->arena, room, sizeof *t->lines);
    return t->book->rows != NULL && t->lines != NULL;
}

enum pv_code codec_price_csv_decode(struct strview text,
                                    const char *currency,
                                    size_t rows_max,
                                    struct arena *arena,
                                    struct price_book *book,
                                    struct pv_error *err)
{
    struct price_book read = {.currency = strview_of(currency)};
    struct table t = {.arena = arena, .err = err, .book = &read, .rows_max = rows_max};
    if (!price_csv_make_room(&t, text))
        return pv_no_memory(err);
    price_csv_parse(&t, text);
    if (!t.failed && !t.ended)
        check_book(&t);
    if (t.failed)
        return pv_no_memory(err);
    read.row_count = (int64_t)read.n_rows;
    if (err->code == PV_OK)
        *book = read;
    return err->code;
}

/* --- out --- */

struct sheet {
    char *at;
    size_t n;
};

static void put_text(struct sheet *sheet, const char *text)
{
    size_t n = strlen(text);
    memcpy(sheet->at + sheet->n, text, n);
    sheet->n += n;
}

static void put_name(struct sheet *sheet, struct strview name, size_t room)
{
    if (name.at != NULL)
        sheet->n += csv_write(sheet->at + sheet->n, room, name.at, name.n);
    put_text(sheet, ",");
}

static void put_number(struct sheet *sheet, double value)
{
    char text[32] = "";
    if (!isnan(value))
        (void)writer_format_number(value, text);
    put_text(sheet, text);
}

/* What a name takes at the most: every byte a quote, and one on either side. */
static size_t room_of(struct strview name)
{
    return 2 * name.n + 2;
}

static void put_count(struct sheet *sheet, int64_t count)
{
    char text[32] = "";
    if (count != RUN_UNKNOWN)
        (void)snprintf(text, sizeof text, "%lld", (long long)count);
    put_text(sheet, text);
}

static double number_or_none(int64_t count)
{
    return count == RUN_UNKNOWN ? (double)NAN : (double)count;
}

/* Of each column behind the currency. */
static void list_numbers(const struct price *price, double numbers[COLUMNS])
{
    numbers[HOUR] = price->per_executor_hour;
    numbers[SPOT] = price->spot_per_executor_hour;
    numbers[INTERRUPTIONS] = price->interruptions_per_hour;
    numbers[MACHINE_HOUR] = price->per_machine_hour;
    numbers[MACHINE_SPOT] = price->spot_per_machine_hour;
    numbers[MACHINE_CORES] = number_or_none(price->machine_cores);
    numbers[MACHINE_MEMORY] = number_or_none(price->machine_memory_bytes);
    numbers[STARTUP] = price->startup_billed_s;
    numbers[MINIMUM] = price->minimum_billed_s;
    numbers[INCREMENT] = price->billing_increment_s;
}

/* All columns, or those of executors by their time where no row has more. */
static size_t count_columns(const struct price_book *book)
{
    for (size_t i = 0; i < book->n_rows; i++) {
        double numbers[COLUMNS];
        list_numbers(&book->rows[i].price, numbers);
        for (size_t column = MACHINE_HOUR; column < COLUMNS; column++)
            if (!isnan(numbers[column]))
                return COLUMNS;
    }
    return MACHINE_HOUR;
}

static void put_row(struct sheet *sheet, const struct price_book *book, size_t i, size_t columns)
{
    const struct price_row *row = &book->rows[i];
    double numbers[COLUMNS];
    list_numbers(&row->price, numbers);
    put_name(sheet, row->machine_type, room_of(row->machine_type));
    put_name(sheet, row->cluster, room_of(row->cluster));
    memcpy(sheet->at + sheet->n, book->currency.at, book->currency.n);
    sheet->n += book->currency.n;
    put_text(sheet, ",");
    for (size_t column = HOUR; column < columns; column++) {
        if (column == MACHINE_CORES || column == MACHINE_MEMORY)
            put_count(sheet, column == MACHINE_CORES ? row->price.machine_cores
                                                     : row->price.machine_memory_bytes);
        else
            put_number(sheet, numbers[column]);
        put_text(sheet, column + 1 < columns ? "," : "\r\n");
    }
}

const char *codec_price_csv_encode(const struct price_book *book, struct arena *arena, size_t *n)
{
    enum { HEADER = 320, FIXED = 32 * COLUMNS };
    size_t room = HEADER, columns = count_columns(book);
    for (size_t i = 0; i < book->n_rows; i++)
        room += FIXED + room_of(book->rows[i].machine_type) + room_of(book->rows[i].cluster);
    struct sheet sheet = {.at = arena_alloc(arena, room)};
    if (sheet.at == NULL)
        return NULL;
    for (size_t i = 0; i < columns; i++) {
        put_text(&sheet, names[i]);
        put_text(&sheet, i + 1 < columns ? "," : "\r\n");
    }
    for (size_t i = 0; i < book->n_rows; i++)
        put_row(&sheet, book, i, columns);
    *n = sheet.n;
    return sheet.at;
}
