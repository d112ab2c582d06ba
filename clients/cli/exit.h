#ifndef CLI_EXIT_H
#define CLI_EXIT_H

/*
 * The exit status of `provisor`, stable, for pipelines to decide on (docs/cli.md, "Exit status").
 * 124 and above are left to what `submit` runs.
 */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,         /* the service, the network, a file or this program failed */
    EXIT_USAGE = 2,          /* the command line or the configuration is wrong */
    EXIT_GATE_FAILED = 3,    /* predicted to miss the deadline, or a limit of the gate is passed */
    EXIT_LOW_CONFIDENCE = 4, /* predicted to be in time, with less than the confidence asked */
    EXIT_TOO_LITTLE_HISTORY = 5, /* the history does not allow an answer */
    EXIT_TOO_LITTLE_FREE = 6     /* too little of the cluster is free */
};

#endif
