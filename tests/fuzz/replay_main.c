/* Feed every file of some directories to a fuzz target, without a fuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    (void)fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    size_t n = size > 0 ? (size_t)size : 0;
    /* Exactly as long as the input, so that a sanitizer sees the first byte read beyond it. */
    uint8_t *bytes = malloc(n > 0 ? n : 1);
    int failed = bytes == NULL || fread(bytes, 1, n, file) != n;
    if (!failed)
        failed = LLVMFuzzerTestOneInput(bytes, n);
    free(bytes);
    (void)fclose(file);
    return failed;
}

/* How many files the directory holds; one that is not there holds none. */
static int replay_all(const char *folder, int *failed)
{
    DIR *directory = opendir(folder);
    int n = 0;
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char path[4096];
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
            continue;
        n++;
        *failed += replay(path) != 0;
    }
    if (directory != NULL)
        (void)closedir(directory);
    return n;
}

int main(int argc, char **argv)
{
    int n = 0;
    int failed = 0;
    for (int i = 1; i < argc; i++)
        n += replay_all(argv[i], &failed);
    printf("%d inputs, %d failed\n", n, failed);
    return failed > 0 || n == 0;
}
