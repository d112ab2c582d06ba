#include "core/scheduling/network/key_table.h"

enum { CAPACITY_FIRST = 256 };

static const uint64_t VACANT = UINT64_MAX;

bool key_table_init(struct key_table *table, struct arena *arena)
{
    *table = (struct key_table){.arena = arena,
                                .keys = arena_array(arena, CAPACITY_FIRST, sizeof *table->keys),
                                .values = arena_array(arena, CAPACITY_FIRST, sizeof *table->values),
                                .capacity = CAPACITY_FIRST};
    for (size_t i = 0; table->keys != NULL && i < table->capacity; i++)
        table->keys[i] = VACANT;
    return table->keys != NULL && table->values != NULL;
}

/* The high half of a product mixes all bits of the key. */
static size_t home_of(const struct key_table *table, uint64_t key)
{
    uint64_t mixed = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed ^ mixed >> 32) & (table->capacity - 1);
}

/* Where the key is, or would be. */
static size_t place_of(const struct key_table *table, uint64_t key)
{
    size_t place = home_of(table, key);
    while (table->keys[place] != VACANT && table->keys[place] != key)
        place = (place + 1) & (table->capacity - 1);
    return place;
}

uint32_t key_table_find(const struct key_table *table, uint64_t key)
{
    size_t place = place_of(table, key);
    return table->keys[place] == key ? table->values[place] : KEY_TABLE_NONE;
}

static bool grow(struct key_table *table)
{
    const struct key_table before = *table;
    size_t capacity = 2 * table->capacity;
    uint64_t *keys = arena_array(table->arena, capacity, sizeof *keys);
    uint32_t *values = arena_array(table->arena, capacity, sizeof *values);
    if (keys == NULL || values == NULL)
        return false;
    for (size_t i = 0; i < capacity; i++)
        keys[i] = VACANT;
    table->keys = keys;
    table->values = values;
    table->capacity = capacity;
    for (size_t i = 0; i < before.capacity; i++) {
        if (before.keys[i] == VACANT)
            continue;
        size_t place = place_of(table, before.keys[i]);
        keys[place] = before.keys[i];
        values[place] = before.values[i];
    }
    return true;
}

bool key_table_add(struct key_table *table, uint64_t key, uint32_t value)
{
    if (2 * (table->n + 1) > table->capacity && !grow(table))
        return false;
    size_t place = place_of(table, key);
    table->keys[place] = key;
    table->values[place] = value;
    table->n++;
    return true;
}

/* Entries behind it that it kept from their homes move up, so that none is looked for in vain. */
void key_table_remove(struct key_table *table, uint64_t key)
{
    size_t mask = table->capacity - 1;
    size_t gap = place_of(table, key);
    table->n--;
    for (size_t place = (gap + 1) & mask; table->keys[place] != VACANT;
         place = (place + 1) & mask) {
        size_t home = home_of(table, table->keys[place]);
        if (((place - home) & mask) < ((place - gap) & mask))
            continue;
        table->keys[gap] = table->keys[place];
        table->values[gap] = table->values[place];
        gap = place;
    }
    table->keys[gap] = VACANT;
}
