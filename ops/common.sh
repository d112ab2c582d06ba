# shellcheck shell=bash
#
# Sourced by run, check and the scripts in ops: words for people, steps that show their progress.

: "${program:=${0##*/}}"

say() {
    printf '%s\n' "$*" >&2
}

die() {
    printf '%s: %s\n' "$program" "$*" >&2
    exit 1
}

# step TITLE COMMAND...: run it with its output in a log; a line at its start and at its end, one
# every ten seconds between that shows the last line of the log, and all the log's tail on failure.
step() {
    local title=$1 log status=0 began=$SECONDS shown=$SECONDS last pid
    shift
    log=$(mktemp)
    say "==> $title"
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.2
        if ((SECONDS - shown >= 10)); then
            shown=$SECONDS
            last=$(tail -c 400 "$log" | tr '\r' '\n' | grep -v '^ *$' | tail -n 1 | cut -c 1-90 || true)
            say "    $((SECONDS - began)) s  $last"
        fi
    done
    wait "$pid" || status=$?
    if [ "$status" -ne 0 ]; then
        tail -n 40 "$log" >&2
        say "    failed after $((SECONDS - began)) s"
    else
        say "    done, $((SECONDS - began)) s"
    fi
    rm -f "$log"
    return "$status"
}
