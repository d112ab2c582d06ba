/* What is free of a cluster over time: by hand, and against brute force over every instant. */
#include <criterion/criterion.h>

#include "base/rng.h"
#include "core/cluster/reservations.h"

static const struct reservation_amounts capacity = {.quanta = 100, .memory_bytes = 1000};

static struct reservation held(int64_t begin_us, int64_t end_us, int64_t quanta, int64_t bytes)
{
    return (struct reservation){begin_us, end_us, {quanta, bytes}};
}

Test(reservations, cores_are_whole_quanta)
{
    cr_expect_eq(reservation_quanta(1), 20);
    cr_expect_eq(reservation_quanta(0.85), 17);
    cr_expect_eq(reservation_cores(17), 0.85);
    for (int64_t quanta = 1; quanta < 100000; quanta += 7)
        cr_assert_eq(reservation_quanta(reservation_cores(quanta)), quanta);
    cr_expect(reservation_is_whole(0.05) && reservation_is_whole(1e6 + 0.35));
    cr_expect(!reservation_is_whole(0.07) && !reservation_is_whole(1e6 + 0.36));
}

Test(reservations, capacity_is_a_product)
{
    struct cluster_traits traits = {
        .executors = 3, .cores_per_executor = 4, .memory_bytes_per_executor = 5};
    struct reservation_amounts all = reservation_capacity(&traits);
    cr_expect(all.quanta == 240 && all.memory_bytes == 15);
    traits.memory_bytes_per_executor = RUN_UNKNOWN;
    cr_expect_eq(reservation_capacity(&traits).memory_bytes, RUN_UNKNOWN);
    traits.memory_bytes_per_executor = INT64_MAX;
    cr_expect_eq(reservation_capacity(&traits).memory_bytes, INT64_MAX);
}

Test(reservations, by_hand)
{
    struct arena scratch;
    struct reservation_amounts room;
    int64_t begin_us;
    arena_init(&scratch, 0);
    const struct reservation list[] = {held(0, 10, 60, 100), held(10, 20, 70, RUN_UNKNOWN),
                                       held(15, 30, 20, 950)};
    cr_assert(reservations_free(list, 3, capacity, 0, 10, &scratch, &room));
    cr_expect(room.quanta == 40 && room.memory_bytes == 900, "what begins at the end is not in it");
    cr_assert(reservations_free(list, 3, capacity, 9, 16, &scratch, &room));
    cr_expect(room.quanta == 10 && room.memory_bytes == 50, "each by itself");
    cr_assert(reservations_free(list, 3, capacity, 30, 40, &scratch, &room));
    cr_expect(room.quanta == 100 && room.memory_bytes == 1000);
    cr_assert(reservations_free(NULL, 0, capacity, 0, 1, &scratch, &room));
    cr_expect(room.quanta == 100 && room.memory_bytes == 1000);
    const struct reservation_amounts smaller = {.quanta = 50, .memory_bytes = RUN_UNKNOWN};
    cr_assert(reservations_free(list, 3, smaller, 0, 10, &scratch, &room));
    cr_expect(room.quanta == 0 && room.memory_bytes == RUN_UNKNOWN, "the cluster has shrunk");

    const struct reservation_amounts some = {.quanta = 35, .memory_bytes = RUN_UNKNOWN};
    cr_assert(reservations_earliest(list, 3, capacity, some, 0, 10, &scratch, &begin_us));
    cr_expect_eq(begin_us, 0);
    cr_assert(reservations_earliest(list, 3, capacity, some, 0, 11, &scratch, &begin_us));
    cr_expect_eq(begin_us, 20);
    const struct reservation_amounts bytes = {.quanta = 1, .memory_bytes = 60};
    cr_assert(reservations_earliest(list, 3, capacity, bytes, 12, 4, &scratch, &begin_us));
    cr_expect_eq(begin_us, 30);
    const struct reservation_amounts never = {.quanta = 101, .memory_bytes = RUN_UNKNOWN};
    cr_assert(reservations_earliest(list, 3, capacity, never, 0, 1, &scratch, &begin_us));
    cr_expect_eq(begin_us, RUN_NO_INSTANT);
    arena_fini(&scratch);
}

enum { INSTANTS = 40, MOST = 12 };

static struct reservation_amounts
left_at(const struct reservation list[], size_t n, int64_t instant)
{
    struct reservation_amounts left = capacity;
    for (size_t i = 0; i < n; i++)
        if (list[i].begin_us <= instant && instant < list[i].end_us) {
            left.quanta -= list[i].amounts.quanta;
            left.memory_bytes -=
                list[i].amounts.memory_bytes == RUN_UNKNOWN ? 0 : list[i].amounts.memory_bytes;
        }
    return left;
}

static bool is_free(const struct reservation list[],
                    size_t n,
                    struct reservation_amounts asked,
                    int64_t begin_us,
                    int64_t length_us)
{
    for (int64_t at = begin_us; at < begin_us + length_us; at++) {
        struct reservation_amounts left = left_at(list, n, at);
        if (left.quanta < asked.quanta ||
            (asked.memory_bytes != RUN_UNKNOWN && left.memory_bytes < asked.memory_bytes))
            return false;
    }
    return true;
}

static int64_t draw(struct rng *rng, int64_t most)
{
    return (int64_t)(rng_uniform(rng) * (double)most);
}

Test(reservations, against_every_instant)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    struct rng rng = rng_make(20260105, 1);
    for (int round = 0; round < 3000; round++) {
        struct reservation list[MOST];
        size_t n = (size_t)draw(&rng, MOST + 1);
        for (size_t i = 0; i < n; i++) {
            int64_t begin_us = draw(&rng, INSTANTS) - 5;
            list[i] = held(begin_us, begin_us + draw(&rng, 15), 1 + draw(&rng, 50),
                           draw(&rng, 2) ? RUN_UNKNOWN : 1 + draw(&rng, 500));
        }
        int64_t begin_us = draw(&rng, INSTANTS), length_us = 1 + draw(&rng, 12);
        struct reservation_amounts room, least = capacity;
        cr_assert(
            reservations_free(list, n, capacity, begin_us, begin_us + length_us, &scratch, &room));
        for (int64_t at = begin_us; at < begin_us + length_us; at++) {
            struct reservation_amounts left = left_at(list, n, at);
            least.quanta = left.quanta < least.quanta ? left.quanta : least.quanta;
            least.memory_bytes =
                left.memory_bytes < least.memory_bytes ? left.memory_bytes : least.memory_bytes;
        }
        cr_assert_eq(room.quanta, least.quanta < 0 ? 0 : least.quanta);
        cr_assert_eq(room.memory_bytes, least.memory_bytes < 0 ? 0 : least.memory_bytes);
        const struct reservation_amounts asked = {1 + draw(&rng, 100),
                                                  draw(&rng, 2) ? RUN_UNKNOWN : draw(&rng, 1000)};
        int64_t earliest_us, wanted_us = begin_us;
        cr_assert(reservations_earliest(list, n, capacity, asked, begin_us, length_us, &scratch,
                                        &earliest_us));
        while (!is_free(list, n, asked, wanted_us, length_us))
            wanted_us++;
        cr_assert_eq(earliest_us, wanted_us);
    }
    arena_fini(&scratch);
}
