#include "codec/json/names.h"

#include <stdlib.h>

struct named {
    struct strview name;
    int64_t id;
    size_t index;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    int order = n == 0 ? 0 : memcmp(x->name.at, y->name.at, n);
    if (order != 0)
        return order;
    if (x->name.n != y->name.n)
        return x->name.n < y->name.n ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Equal ones become neighbours, in the order of the request. */
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
        codec_fault_member(&item, member, "duplicate", "%s", detail);
    }
}

static struct named *make_room(const struct codec_node *list, size_t n)
{
    struct named *all = arena_array(list->reader->arena, n, sizeof *all);
    if (all == NULL)
        (void)pv_no_memory(list->reader->err);
    return all;
}

void codec_refuse_same_texts(const struct codec_node *list,
                             const char *key,
                             const struct strview texts[],
                             size_t n,
                             const char *detail)
{
    struct named *all = make_room(list, n);
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

void codec_refuse_same_ids(const struct codec_node *list,
                           const int64_t ids[],
                           size_t n,
                           const char *detail)
{
    struct named *all = make_room(list, n);
    size_t known = 0;
    if (all == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= 0)
            all[known++] = (struct named){.id = ids[i], .index = i};
    refuse_same(list, all, known, "id", detail);
}
