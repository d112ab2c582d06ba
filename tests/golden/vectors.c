#include "vectors.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool vectors_each(const char *topic,
                  const char *absent,
                  size_t flags,
                  bool (*follow)(const char *file, json_t *vector),
                  size_t *followed)
{
    const char *root = getenv("PROVISOR_SHARED");
    char directory[1024];
    (void)snprintf(directory, sizeof directory, "%s/golden/vectors/%s",
                   root != NULL ? root : absent, topic);
    DIR *folder = opendir(directory);
    if (folder == NULL) {
        printf("skipped: no vectors at %s (set PROVISOR_SHARED)\n", directory);
        return false;
    }
    *followed = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[1400];
        if (strstr(entry->d_name, ".json") == NULL)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        json_t *vector = json_load_file(path, flags, NULL);
        *followed += follow(entry->d_name, vector);
        json_decref(vector);
    }
    (void)closedir(folder);
    return true;
}

double vectors_number(json_t *object, const char *key, double absent)
{
    json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : absent;
}

bool vectors_lists(json_t *object, const char *key, const char *word, bool absent)
{
    json_t *list = json_object_get(object, key);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), word) == 0)
            return true;
    return list == NULL && absent;
}

void vectors_expect(
    struct vectors_figures *figures, const char *where, json_t *object, const char *key, double got)
{
    double want = vectors_number(object, key, (double)NAN);
    figures->compared++;
    if (isnan(want) ? isnan(got) : fabs(got - want) <= 1e-9 * fmax(1, fabs(want)))
        return;
    figures->differ++;
    printf("# %s: %s is %.17g, not %.17g\n", where, key, got, want);
}

void vectors_expect_word(struct vectors_figures *figures,
                         const char *where,
                         json_t *object,
                         const char *key,
                         const char *got)
{
    const char *want = json_string_value(json_object_get(object, key));
    figures->compared++;
    if (got == NULL ? want == NULL : want != NULL && strcmp(got, want) == 0)
        return;
    figures->differ++;
    printf("# %s: %s is \"%s\", not \"%s\"\n", where, key, got != NULL ? got : "(null)",
           want != NULL ? want : "(null)");
}
