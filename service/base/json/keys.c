#include "base/json/keys.h"

#include <string.h>

#include "base/duty.h"

/* How many names are merged before the thread may pause. */
enum { PAUSE_KEYS = 1 << 12 };

static int compare(const struct json_key *a, const char *at, size_t n)
{
    if (a->n != n)
        return a->n < n ? -1 : 1;
    return memcmp(a->at, at, n);
}

static int compare_keys(const struct json_key *a, const struct json_key *b)
{
    return compare(a, b->at, b->n);
}

static size_t search(const struct json_keys *keys, struct strview name)
{
    size_t low = 0;
    size_t high = keys->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(&keys->keys[keys->order[middle]], name.at, name.n);
        if (order == 0)
            return keys->order[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

size_t json_keys_find(const struct json_keys *keys, struct strview name)
{
    if (keys->order != NULL)
        return search(keys, name);
    for (size_t i = 0; i < keys->n; i++)
        if (compare(&keys->keys[i], name.at, name.n) == 0)
            return i;
    return SIZE_MAX;
}

const uint32_t *json_keys_order(const struct json_keys *keys, uint32_t few[])
{
    if (keys->order != NULL)
        return keys->order;
    for (uint32_t i = 0; i < keys->n; i++) {
        uint32_t at = i;
        for (; at > 0 && compare_keys(&keys->keys[few[at - 1]], &keys->keys[i]) > 0; at--)
            few[at] = few[at - 1];
        few[at] = i;
    }
    return few;
}

/* Two runs, from `low` and from `middle`, into one. */
static void merge(const struct json_keys *keys,
                  const uint32_t from[],
                  uint32_t to[],
                  size_t low,
                  size_t middle,
                  size_t high)
{
    size_t left = low;
    size_t right = middle;
    for (size_t i = low; i < high; i++) {
        bool take_left =
            right == high ||
            (left < middle && compare_keys(&keys->keys[from[left]], &keys->keys[from[right]]) <= 0);
        to[i] = take_left ? from[left++] : from[right++];
        if (i % PAUSE_KEYS == 0)
            duty_works_on();
    }
}

void json_keys_sort(const struct json_keys *keys, uint32_t order[], uint32_t spare[])
{
    const size_t n = keys->n;
    uint32_t *from = order;
    uint32_t *to = spare;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t low = 0; low < n; low += 2 * run) {
            size_t middle = n - low < run ? n : low + run;
            size_t high = n - low < 2 * run ? n : low + 2 * run;
            merge(keys, from, to, low, middle, high);
        }
        uint32_t *merged = to;
        to = from;
        from = merged;
    }
    if (from != order)
        memcpy(order, from, n * sizeof *order);
}

size_t json_keys_twice(const struct json_keys *keys, const uint32_t order[])
{
    size_t first = SIZE_MAX;
    for (size_t i = 1; order != NULL && i < keys->n; i++)
        if (order[i] < first && compare_keys(&keys->keys[order[i - 1]], &keys->keys[order[i]]) == 0)
            first = order[i];
    for (size_t i = 1; order == NULL && i < keys->n; i++)
        for (size_t k = 0; k < i; k++)
            if (compare_keys(&keys->keys[k], &keys->keys[i]) == 0)
                return i;
    return first;
}
