#include "actuator/target.h"

#include <stdio.h>
#include <string.h>

#include "actuator/configuration.h"

enum { COMPONENT_MAX = 255 };

bool target_is_component(const char *name, size_t n)
{
    if (n == 0 || n > COMPONENT_MAX || (n == 1 && name[0] == '.') ||
        (n == 2 && name[0] == '.' && name[1] == '.'))
        return false;
    for (size_t i = 0; i < n; i++)
        if (name[i] == '/' || (unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return false;
    return true;
}

/* The name that stands for the placeholder at `at`, and behind it; NULL: it is plain text. */
static const char *placeholder(const char *at, const struct grant *grant, size_t *length)
{
    const struct {
        const char *word;
        const char *name;
    } known[] = {{"{executor}", grant->id},
                 {"{application}", grant->application},
                 {"{worker}", grant->worker}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(at, known[i].word, strlen(known[i].word)) == 0) {
            *length = strlen(known[i].word);
            return known[i].name;
        }
    return NULL;
}

static bool expand(const char *pattern,
                   const struct grant *grant,
                   char place[PLACE_TEXT],
                   struct failure *failure)
{
    size_t n = 0;
    while (*pattern != '\0') {
        size_t length = 1;
        const char *name = placeholder(pattern, grant, &length);
        const char *part = name == NULL ? pattern : name;
        size_t part_n = name == NULL ? 1 : strlen(name);
        if (name != NULL && !target_is_component(name, part_n))
            return fail(failure, EXIT_FAILED, "the name '%.200s' cannot be part of a place", name);
        if (n + part_n >= PLACE_TEXT)
            return fail(failure, EXIT_FAILED, "the place of '%.200s' is too long", grant->id);
        memcpy(place + n, part, part_n);
        n += part_n;
        pattern += length;
    }
    place[n] = '\0';
    return true;
}

bool target_place(const struct configuration *configuration,
                  const struct grant *grant,
                  char place[PLACE_TEXT],
                  struct failure *failure)
{
    const char *own = json_string_value(json_object_get(configuration->executors, grant->id));
    if (own == NULL)
        return expand(configuration->pattern, grant, place, failure);
    if (strlen(own) >= PLACE_TEXT)
        return fail(failure, EXIT_FAILED, "the place of '%.200s' is too long", grant->id);
    memcpy(place, own, strlen(own) + 1);
    return true;
}
