#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "cli/commands/registered.h"

enum { BOOKS_LIMIT = 50 };

static const struct column columns[] = {
    {"price book", "name", CELL_NAME, NULL}, {"currency", "currency", CELL_TEXT, NULL},
    {"prices", "rows", CELL_COUNT, NULL},    {"updated", "updated_at", CELL_INSTANT, NULL},
    {"ETag", "etag", CELL_TEXT, NULL},
};

static const char *const read_only[] = {"id",         "name",       "rows", "version",
                                        "created_at", "updated_at", NULL};
static const struct registered books = {"/v1/price-books/", "price book", columns, COUNT(columns),
                                        read_only};

/* --- list --- */

static const struct option_spec list_options[] = {
    {"currency", 0, OPTION_TEXT, "EUR", "Only books in this currency.", false},
    OPTION_LIMIT,
    OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

static int run(struct invocation *invocation)
{
    static struct query query;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "currency", "currency");
    return query_list(&query, "/v1/price-books", BOOKS_LIMIT, "price books", columns,
                      COUNT(columns) - 1);
}

/* --- show --- */

static const struct column price_columns[] = {
    {"machine type", "machine_type", CELL_TEXT, NULL},
    {"cluster", "cluster", CELL_TEXT, NULL},
    {"executor hour", "per_executor_hour", CELL_NUMBER, NULL},
    {"spot", "spot_per_executor_hour", CELL_NUMBER, NULL},
    {"interruptions", "interruptions_per_hour", CELL_NUMBER, NULL},
    {"machine hour", "per_machine_hour", CELL_NUMBER, NULL},
    {"spot", "spot_per_machine_hour", CELL_NUMBER, NULL},
    {"cores", "machine_cores", CELL_COUNT, NULL},
    {"memory", "machine_memory_bytes", CELL_BYTES, NULL},
};

/* A book as the forms want it; CSV is the service's own, which can be put back. */
struct shown_book {
    const json_t *book;
    const json_t *shown; /* with its ETag */
    const char *csv;
};

static bool write_book(FILE *out,
                       enum output_form form,
                       const struct terminal *terminal,
                       void *context,
                       struct failure *failure)
{
    const struct shown_book *book = context;
    if (form == FORM_CSV) {
        fputs(book->csv, out);
        return true;
    }
    const struct section sections[] = {
        {.value = book->shown, .columns = columns, .n_columns = COUNT(columns)},
        {.title = "Prices",
         .value = json_object_get(book->book, "prices"),
         .columns = price_columns,
         .n_columns = COUNT(price_columns)}};
    return report_write(out, form, terminal, sections, COUNT(sections), book->book, failure);
}

static bool wants_csv(const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->items[i].form == FORM_CSV)
            return true;
    return false;
}

static bool get_csv(struct invocation *invocation, struct remote_reply *reply)
{
    char path[PATH_TEXT];
    *reply = (struct remote_reply){.status = 0};
    if (!wants_csv(&invocation->outputs))
        return true;
    if (!path_of_word(invocation, books.collection, 0, "?format=csv", path))
        return false;
    struct remote_request request = {.method = "GET", .path = path, .accept = "text/csv"};
    return remote_call(invocation->remote, &request, reply, &invocation->failure);
}

static int run_show(struct invocation *invocation)
{
    struct remote_reply reply = {.status = 0};
    struct remote_reply csv = {.status = 0};
    json_t *shown = NULL;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    bool good = registered_get(invocation, &books, &reply, &shown) && get_csv(invocation, &csv);
    if (good) {
        struct shown_book book = {reply.json, shown, csv.text};
        good = outputs_write(&invocation->outputs, write_book, &book, &invocation->failure);
    }
    json_decref(shown);
    remote_reply_clear(&reply);
    remote_reply_clear(&csv);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- put and delete --- */

static const struct option_spec put_options[] = {
    {"csv", 0, OPTION_FLAG, NULL, "The file is CSV, whatever its name.", false},
    {"currency", 0, OPTION_TEXT, "EUR", "Currency of CSV without such a column.", false},
    OPTION_IF_MATCH,
    OPTION_CREATE,
    OPTIONS_END};
static const struct option_group put_group = {"Options", put_options};
static const struct option_spec delete_options[] = {OPTION_YES, OPTION_IF_MATCH, OPTIONS_END};
static const struct option_group delete_group = {"Options", delete_options};

static bool is_csv(const struct invocation *invocation, const char *file)
{
    size_t n = strlen(file);
    return argument_given(invocation->arguments, "csv") ||
           (n >= 4 && strcmp(file + n - 4, ".csv") == 0);
}

static int run_put(struct invocation *invocation)
{
    const char *file = invocation_word(invocation, 1);
    const struct remote_parameter query[] = {
        {"currency", argument_text(invocation->arguments, "currency")}, {NULL, NULL}};
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    if (!is_csv(invocation, file))
        return registered_put_document(invocation, &books, file);
    size_t n;
    char *text = invocation_read_file(invocation, file, &n);
    if (text == NULL)
        return invocation_failed(invocation);
    int status = registered_put(invocation, &books, text, n, "text/csv", query);
    free(text);
    return status;
}

static int run_delete(struct invocation *invocation)
{
    if (!invocation_begin(invocation, 1U << FORM_TABLE))
        return invocation_failed(invocation);
    return registered_delete(invocation, &books);
}

static const struct command command_show = {
    .name = "show",
    .summary = "Show a price book with its prices and its ETag.",
    .description = "As CSV it is written so that it can be put back as it is.",
    .positional = "BOOK",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor price-books show list-2026\n"
                "  provisor price-books show list-2026 -o csv > list-2026.csv",
    .run = run_show};

static const struct command command_put = {
    .name = "put",
    .summary = "Make a price book, or replace all its prices.",
    .description =
        "Reads the book from a file of JSON, YAML or CSV (a name that ends in .csv, or --csv), or "
        "from standard input (-). The first line of CSV names the columns. What is there is "
        "overwritten, unless --if-match or --create guards it.",
    .positional = "BOOK FILE",
    .positional_min = 2,
    .positional_max = 2,
    .examples = "  provisor price-books put list-2026 prices.csv --currency EUR\n"
                "  provisor price-books put list-2026 book.yaml --create",
    .groups = {&put_group},
    .run = run_put};

static const struct command command_delete = {.name = "delete",
                                              .summary = "Delete a price book.",
                                              .description = "Refused while a cluster names it.",
                                              .positional = "BOOK",
                                              .positional_min = 1,
                                              .positional_max = 1,
                                              .examples =
                                                  "  provisor price-books delete list-2026 --yes",
                                              .groups = {&delete_group},
                                              .run = run_delete};

static const struct command *const subcommands[] = {&command_show, &command_put, &command_delete,
                                                    NULL};

const struct command command_price_books = {
    .name = "price-books",
    .summary = "List the price books.",
    .description = "Price books hold what an executor or a machine costs an hour; costs in advice "
                   "come from them.",
    .examples = "  provisor price-books\n"
                "  provisor price-books --currency EUR -o json",
    .groups = {&list_group},
    .subcommands = subcommands,
    .run = run};
