#include "core/scaling/history/label_traits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* The values of one key, by row. */
struct column {
    struct strview value;
    size_t row;
};

static int by_value(const void *a, const void *b)
{
    const struct column *x = a;
    const struct column *y = b;
    int order = compare_strview(x->value, y->value);
    return order != 0 ? order : compare_size(x->row, y->row);
}

/* A decimal number >= 0 that is all of the text; NAN: it is none. */
static double number_of(struct strview text)
{
    char copy[64];
    char *end;
    if (text.at == NULL || text.n == 0 || text.n >= sizeof copy ||
        strspn(text.at, "0123456789.eE+-") < text.n)
        return (double)NAN;
    memcpy(copy, text.at, text.n);
    copy[text.n] = '\0';
    double value = strtod(copy, &end);
    return *end == '\0' && isfinite(value) && value >= 0 ? value : (double)NAN;
}

/* numbers: n of them, by row. */
static bool take_numbers(const struct column column[], size_t n, double numbers[])
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        double value = number_of(column[i].value);
        if (column[i].value.at != NULL && isnan(value))
            return false;
        if (value > 0)
            least = fmin(least, value);
        numbers[column[i].row] = value;
    }
    for (size_t i = 0; i < n; i++)
        numbers[i] = isnan(numbers[i]) ? numbers[i] : log(numbers[i] > 0 ? numbers[i] : least / 10);
    return isfinite(least);
}

static void take_words(struct column column[], size_t n, unsigned words[])
{
    unsigned word = 0;
    qsort(column, n, sizeof *column, by_value);
    for (size_t i = 0; i < n; i++) {
        word += i > 0 && !strview_equal(column[i].value, column[i - 1].value);
        words[column[i].row] = word;
    }
}

/* Tables of one row a run, filled a key at a time. */
struct table {
    double *numbers; /* n by n_keys */
    unsigned *words;
    double *number; /* of one key */
    unsigned *word;
    struct column *column;
    struct context_traits *traits;
};

static bool make_table(size_t n, size_t n_keys, struct arena *arena, struct table *table)
{
    table->traits = arena_calloc(arena, n, sizeof *table->traits);
    table->numbers = arena_array(arena, n * n_keys, sizeof *table->numbers);
    table->words = arena_array(arena, n * n_keys, sizeof *table->words);
    table->number = arena_array(arena, n, sizeof *table->number);
    table->word = arena_array(arena, n, sizeof *table->word);
    table->column = arena_array(arena, n, sizeof *table->column);
    return table->traits != NULL && table->numbers != NULL && table->words != NULL &&
           table->number != NULL && table->word != NULL && table->column != NULL;
}

enum pv_code label_traits_set(struct observation rows[],
                              const struct run_label_list labels[],
                              size_t n,
                              const struct strview keys[],
                              size_t n_keys,
                              struct arena *arena,
                              struct pv_error *err)
{
    struct table table;
    size_t n_numbers = 0;
    size_t n_words = 0;
    if (n == 0 || n_keys == 0)
        return PV_OK;
    if (!make_table(n, n_keys, arena, &table))
        return pv_no_memory(err);
    for (size_t k = 0; k < n_keys; k++) {
        for (size_t i = 0; i < n; i++)
            table.column[i] = (struct column){run_label_value(&labels[i], keys[k]), i};
        if (take_numbers(table.column, n, table.number)) {
            for (size_t i = 0; i < n; i++)
                table.numbers[i * n_keys + n_numbers] = table.number[i];
            n_numbers++;
        } else {
            take_words(table.column, n, table.word);
            for (size_t i = 0; i < n; i++)
                table.words[i * n_keys + n_words] = table.word[i];
            n_words++;
        }
    }
    for (size_t i = 0; i < n; i++) {
        table.traits[i] = (struct context_traits){&table.numbers[i * n_keys], n_numbers,
                                                  &table.words[i * n_keys], n_words};
        rows[i].traits = &table.traits[i];
    }
    return PV_OK;
}

static bool is_known(const struct strview keys[], size_t n, struct strview key)
{
    for (size_t k = 0; k < n; k++)
        if (strview_equal(keys[k], key))
            return true;
    return false;
}

enum pv_code label_traits_set_all(struct observation rows[],
                                  const struct run_label_list labels[],
                                  size_t n,
                                  struct arena *arena,
                                  struct pv_error *err)
{
    struct strview keys[LABEL_TRAITS_KEYS_MAX];
    size_t n_keys = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < labels[i].n && n_keys < LABEL_TRAITS_KEYS_MAX; l++)
            if (!is_known(keys, n_keys, labels[i].labels[l].key))
                keys[n_keys++] = labels[i].labels[l].key;
    return label_traits_set(rows, labels, n, keys, n_keys, arena, err);
}
