#include "codec/json/counts.h"

static bool is_repeated(const int64_t counts[], size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (counts[i] == counts[at])
            return true;
    return false;
}

int64_t *codec_distinct_counts(
    const struct codec_node *object, const char *key, size_t most_items, int64_t most, size_t *n)
{
    struct codec_node list;
    int64_t *counts =
        codec_list(object, key, CODEC_OPTIONAL, 1, most_items, sizeof *counts, &list, n);
    for (size_t i = 0; i < *n; i++) {
        struct codec_node item = codec_item(&list, i);
        counts[i] = codec_as_integer(&item, 1, most);
        if (is_repeated(counts, i) && counts[i] >= 1)
            codec_fault(&item, "duplicate", "is there already");
    }
    return counts;
}
