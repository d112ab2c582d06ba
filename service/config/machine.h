#ifndef CONFIG_MACHINE_H
#define CONFIG_MACHINE_H

#include <stdint.h>

/*
 * Bytes of memory that the process may take: the machine's, or less where one of its control groups
 * has less: its own (a systemd unit's MemoryMax, a container's limit) or one around that. Of both
 * versions of control groups, as far as they are mounted below /sys/fs/cgroup.
 *
 * root  a directory that stands for "/" where files are read; "" outside of tests
 */
int64_t machine_memory_bytes(const char *root);

#endif
