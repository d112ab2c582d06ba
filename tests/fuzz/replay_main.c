/* Feed every file of a directory to a fuzz target, without a fuzzer. */
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

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    if (directory == NULL) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    int n = 0;
    int failed = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        char path[4096];
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name) >= (int)sizeof path)
            continue;
        n++;
        failed += replay(path) != 0;
    }
    (void)closedir(directory);
    printf("%d inputs, %d failed\n", n, failed);
    return failed > 0 || n == 0;
}
