#include "codec/json/names.h"

#include <stdlib.h>

#include "base/order.h"

struct named {
    struct strview name;
    int64_t id;
    size_t index;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;
    int order = compare_int64(x->id, y->id);
    if (order == 0)
        order = compare_strview(x->name, y->name);
    return order != 0 ? order : compare_size(x->index, y->index);
}

/* Equal ones become neighbours, in the order of the request. member NULL: the item itself. */
static void refuse_same(const struct codec_node *list,
                        struct named all[],
                        size_t n,
                        const char *member,
                        const char *detail)
{
    qsort(all, n, sizeof *all, compare_named);
    for (size_t i = 1; i < n; i++) {
        if (all[i].id != all[i - 1].id || !strview_equal(all[i].name, all[i - 1].name))
            continue;
        struct codec_node item = codec_item(list, all[i].index);
        if (member == NULL)
            codec_fault(&item, "duplicate", "%s", detail);
        else
            codec_fault_member(&item, member, "duplicate", "%s", detail);
    }
}

void codec_refuse_same_texts(const struct codec_node *list,
                             const char *key,
                             const struct strview texts[],
                             size_t n,
                             const char *detail)
{
    struct named *all = codec_allocate(list, n, sizeof *all);
    size_t known = 0;
    if (all == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        if (texts[i].n > 0)
            all[known++] = (struct named){.name = texts[i], .index = i};
    refuse_same(list, all, known, key, detail);
}

void codec_refuse_same_names(const struct codec_node *list,
                             const struct strview names[],
                             size_t n,
                             const char *detail)
{
    codec_refuse_same_texts(list, "name", names, n, detail);
}

void codec_refuse_same_items(const struct codec_node *list,
                             const struct strview texts[],
                             size_t n,
                             const char *detail)
{
    codec_refuse_same_texts(list, NULL, texts, n, detail);
}

void codec_refuse_same_ids(const struct codec_node *list,
                           const int64_t ids[],
                           size_t n,
                           const char *detail)
{
    struct named *all = codec_allocate(list, n, sizeof *all);
    size_t known = 0;
    if (all == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= 0)
            all[known++] = (struct named){.id = ids[i], .index = i};
    refuse_same(list, all, known, "id", detail);
}
