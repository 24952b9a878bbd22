// Leaves free memory of single pages, as in a computer that has run for long: fills pipes in turn, one page each, and empties every
// second pipe. Each processor empties its share, as it keeps what it frees for what it takes next. What the kernel then takes page by
// page are these: they come first in a processor's list, and first among the blocks of all sizes. The program holds the other pages
// until it ends.
// Usage: scatter

#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PROCESSORS = 8, PAIRS = 8, PAGES = 256, PAGE = 4096 };

struct pair {
    int given[2], kept[2];
};

static void check(int good, const char *call) {
    if (good) return;
    perror(call);
    exit(1);
}

static void make_pipe(int ends[2]) {
    check(!pipe(ends), "scatter: pipe");
    check(fcntl(ends[1], F_SETPIPE_SZ, PAGES * PAGE) >= PAGES * PAGE, "scatter: F_SETPIPE_SZ");
}

static void fill(struct pair *pair) {
    static const char page[PAGE];
    make_pipe(pair->given);
    make_pipe(pair->kept);
    for (int index = 0; index < PAGES; index++) {
        check(write(pair->given[1], page, PAGE) == PAGE, "scatter: write");
        check(write(pair->kept[1], page, PAGE) == PAGE, "scatter: write");
    }
}

static void empty(const struct pair *pairs, int processor) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    check(!sched_setaffinity(0, sizeof only, &only), "scatter: sched_setaffinity");
    for (int index = 0; index < PAIRS; index++) {
        close(pairs[index].given[0]);
        close(pairs[index].given[1]);
    }
}

int main(void) {
    static struct pair pairs[PROCESSORS][PAIRS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors > PROCESSORS) return fputs("scatter: this computer has too many processors\n", stderr), 1;
    for (int processor = 0; processor < processors; processor++)
        for (int index = 0; index < PAIRS; index++) fill(&pairs[processor][index]);
    for (int processor = 0; processor < processors; processor++) empty(pairs[processor], processor);
    puts("scattered");
    fflush(stdout);
    pause();
    return 0;
}
