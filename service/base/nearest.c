#include "base/nearest.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Without '_', '-' and '.', in lower case. Returns how long it is. */
static size_t fold(const char *word, char folded[NEAREST_LENGTH_MAX + 1])
{
    size_t n = 0;
    for (; *word != '\0'; word++)
        if (strchr("_-.", *word) == NULL)
            folded[n++] = lower(*word);
    folded[n] = '\0';
    return n;
}

/* Three rows of the table of distances between beginnings of the words. */
static size_t count_edits(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t rows[3][NEAREST_LENGTH_MAX + 1];
    for (size_t j = 0; j <= n_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *now = rows[i % 3], *before = rows[(i - 1) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            now[j] =
                smaller(before[j - 1] + (a[i - 1] != b[j - 1]), smaller(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[n_a % 3][n_b];
}

void nearest_try(struct nearest *nearest, const char *asked, const char *candidate)
{
    char a[NEAREST_LENGTH_MAX + 1], b[NEAREST_LENGTH_MAX + 1];
    if (strlen(asked) > NEAREST_LENGTH_MAX || strlen(candidate) > NEAREST_LENGTH_MAX)
        return;
    size_t n_a = fold(asked, a), n_b = fold(candidate, b);
    size_t edits = count_edits(a, n_a, b, n_b);
    /* The shorter word counts: a long ending in common does not make words alike. */
    size_t most = smaller(n_a, n_b) / 3;
    if (n_a > 0 && edits <= most && (nearest->word == NULL || edits < nearest->edits))
        *nearest = (struct nearest){candidate, edits};
}
