#ifndef CODEC_CLUSTERS_PRICE_CSV_H
#define CODEC_CLUSTERS_PRICE_CSV_H

#include "codec/clusters/price_book.h"

/*
 * A price book as CSV (RFC 4180): the first line names the columns, in any order, of which
 * per_executor_hour or per_machine_hour and machine_type or cluster are needed; what is not known stays empty. Fields
 * may stand in quotes, with a quote inside doubled; blanks around a field that stands in none do
 * not count, nor do blank lines and a byte order mark. Lines end in CR LF, LF or CR.
 */

/*
 * currency   of a book without a column of that name; NULL: none was sent. Where both are there
 *            they agree.
 * Faults (PV_E_INVALID) carry the pointer that the row would have in JSON, and tell line and
 * column: bytes that are no UTF-8, quotes out of place, another number of fields than columns,
 * columns that are unknown, twice or missing, and all that codec_price_book_decode refuses.
 * PV_E_MEMORY.
 */
enum pv_code codec_price_csv_decode(struct strview text,
                                    const char *currency,
                                    size_t rows_max,
                                    struct arena *arena,
                                    struct price_book *book,
                                    struct pv_error *err) PV_MUSTCHECK;

/* All columns (those of machines and billing where a row has one of them), names in quotes, lines ended by CR LF; reads back as it was. In the arena; NULL when
 * memory is exhausted. */
const char *codec_price_csv_encode(const struct price_book *book, struct arena *arena, size_t *n);

#endif
