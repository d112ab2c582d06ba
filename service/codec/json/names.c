#include "codec/json/names.h"

#include <stdlib.h>
#include <string.h>

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

/* Of the length, and of the first and last eight bytes: names mostly differ in their ends. */
static uint64_t hash_named(const struct named *named)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    uint64_t first = (uint64_t)named->id;
    uint64_t last = 0;
    size_t n = named->name.n;
    size_t some = n < sizeof first ? n : sizeof first;
    if (some > 0) {
        memcpy(&first, named->name.at, some);
        memcpy(&last, named->name.at + n - some, some);
    }
    uint64_t hash = (first ^ n) * odd;
    hash = ((hash ^ hash >> 32) + last) * odd;
    return hash ^ hash >> 32;
}

static bool is_same(const struct named *a, const struct named *b)
{
    return a->id == b->id && strview_equal(a->name, b->name);
}

/*
 * Mostly no two are the same, which a table finds out sooner than sorting. Who chooses the names can
 * make them meet in it: after some meetings it is given up. false: two are the same, or may be.
 */
static bool all_differ(const struct codec_node *list, const struct named all[], size_t n)
{
    size_t places = 4;
    size_t meetings = 0;
    while (places < 2 * n)
        places *= 2;
    uint32_t *table = n < UINT32_MAX ? codec_allocate(list, places, sizeof *table) : NULL;
    for (size_t i = 0; table != NULL && i < n; i++) {
        size_t place = hash_named(&all[i]) & (places - 1);
        for (; table[place] != 0; place = (place + 1) & (places - 1))
            if (++meetings > 2 * n || is_same(&all[table[place] - 1], &all[i]))
                return false;
        table[place] = (uint32_t)i + 1;
    }
    return table != NULL;
}

/* Equal ones become neighbours, in the order of the request. member NULL: the item itself. */
static void refuse_same(const struct codec_node *list,
                        struct named all[],
                        size_t n,
                        const char *member,
                        const char *detail)
{
    if (all_differ(list, all, n))
        return;
    qsort(all, n, sizeof *all, compare_named);
    for (size_t i = 1; i < n; i++) {
        if (!is_same(&all[i], &all[i - 1]))
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
