#include "codec/json/ndjson.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void ndjson_init(struct ndjson *ndjson,
                 size_t line_bytes_max,
                 struct ledger_account *account,
                 ndjson_sink sink,
                 void *context)
{
    *ndjson = (struct ndjson){.sink = sink,
                              .context = context,
                              .line_bytes_max = line_bytes_max,
                              .setting = "import_line_bytes_max",
                              .account = account,
                              .line = 1};
}

void ndjson_fini(struct ndjson *ndjson)
{
    ledger_give(ndjson->account, ndjson->capacity);
    free(ndjson->kept);
    ndjson->kept = NULL;
    ndjson->kept_n = ndjson->capacity = 0;
}

static bool is_blank(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

static enum pv_code pass_on(struct ndjson *ndjson, const char *text, size_t n, struct pv_error *err)
{
    uint64_t line = ndjson->line++;
    return is_blank(text, n) ? PV_OK : ndjson->sink(ndjson->context, line, text, n, err);
}

static enum pv_code check_length(const struct ndjson *ndjson, size_t n, struct pv_error *err)
{
    if (n <= ndjson->line_bytes_max && ndjson->kept_n <= ndjson->line_bytes_max - n)
        return PV_OK;
    return pv_fail(err, PV_E_LIMIT, "line %" PRIu64 " is longer than %zu bytes (%s)", ndjson->line,
                   ndjson->line_bytes_max, ndjson->setting);
}

/* The length has been checked, so the sums stay far from overflow. */
static enum pv_code
keep_bytes(struct ndjson *ndjson, const char *bytes, size_t n, struct pv_error *err)
{
    size_t need = ndjson->kept_n + n;
    if (need > ndjson->capacity) {
        size_t capacity = need < ndjson->capacity * 2 ? ndjson->capacity * 2 : need;
        /* While it moves there are both. */
        if (!ledger_take(ndjson->account, capacity))
            return pv_no_memory(err);
        char *bigger = realloc(ndjson->kept, capacity);
        ledger_give(ndjson->account, bigger == NULL ? capacity : ndjson->capacity);
        if (bigger == NULL)
            return pv_no_memory(err);
        ndjson->kept = bigger;
        ndjson->capacity = capacity;
    }
    if (n > 0)
        memcpy(ndjson->kept + ndjson->kept_n, bytes, n);
    ndjson->kept_n = need;
    return PV_OK;
}

/* n bytes end the line. */
static enum pv_code
end_line(struct ndjson *ndjson, const char *bytes, size_t n, struct pv_error *err)
{
    if (ndjson->kept_n == 0)
        return pass_on(ndjson, bytes, n, err);
    enum pv_code code = keep_bytes(ndjson, bytes, n, err);
    size_t whole = ndjson->kept_n;
    ndjson->kept_n = 0;
    return code == PV_OK ? pass_on(ndjson, ndjson->kept, whole, err) : code;
}

/* The next line of the bytes, or what there is of it. */
static enum pv_code
feed_line(struct ndjson *ndjson, const char *bytes, size_t n, size_t *taken, struct pv_error *err)
{
    const char *feed = memchr(bytes, '\n', n);
    size_t length = feed == NULL ? n : (size_t)(feed - bytes);
    *taken += feed == NULL ? n : length + 1;
    PV_TRY(check_length(ndjson, length, err));
    return feed == NULL ? keep_bytes(ndjson, bytes, length, err)
                        : end_line(ndjson, bytes, length, err);
}

enum pv_code ndjson_feed_some(
    struct ndjson *ndjson, const char *bytes, size_t n, size_t *taken, struct pv_error *err)
{
    *taken = 0;
    ndjson->pause = false;
    while (*taken < n && !ndjson->pause)
        PV_TRY(feed_line(ndjson, bytes + *taken, n - *taken, taken, err));
    return PV_OK;
}

enum pv_code ndjson_feed(struct ndjson *ndjson, const char *bytes, size_t n, struct pv_error *err)
{
    for (size_t taken; n > 0; bytes += taken, n -= taken)
        PV_TRY(ndjson_feed_some(ndjson, bytes, n, &taken, err));
    return PV_OK;
}

enum pv_code ndjson_finish(struct ndjson *ndjson, struct pv_error *err)
{
    return ndjson->kept_n == 0 ? PV_OK : end_line(ndjson, "", 0, err);
}
