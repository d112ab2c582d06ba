#ifndef HTTP_PROCESS_H
#define HTTP_PROCESS_H

/* What this process takes of the machine, for /metrics. What cannot be read is 0. */
struct process_usage {
    double cpu_s;
    unsigned long long resident_bytes;
    unsigned long long max_fds;
};

void process_usage_read(struct process_usage *usage);

/* Open file descriptors. With thousands of them this takes milliseconds: not for a server thread.
 */
unsigned long long process_count_fds(void);

#endif
