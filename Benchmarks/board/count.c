// Runs a program and writes what it and all its threads executed, as one line of JSON: its own instructions, the kernel's on
// its behalf, and system calls. Interrupts while it runs count as the kernel's.
//
//     count RESULT.json PROGRAM [ARGUMENT...]
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSTEM_CALL_EVENT "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id"

static pid_t child;

static void pass_on(int number) { kill(child, number); }

static void fail(const char *what) {
    perror(what);
    if (child > 0) kill(child, SIGKILL);
    exit(1);
}

// Counts from the child's exec on, including the threads that it starts.
static int counter(uint32_t type, uint64_t config, int exclude_user, int exclude_kernel) {
    struct perf_event_attr event = {
        .type = type,
        .size = sizeof event,
        .config = config,
        .disabled = 1,
        .inherit = 1,
        .enable_on_exec = 1,
        .exclude_user = exclude_user & 1,
        .exclude_kernel = exclude_kernel & 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    int descriptor = (int)syscall(SYS_perf_event_open, &event, child, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (descriptor < 0) fail("perf_event_open");
    return descriptor;
}

static uint64_t count_of(int descriptor) {
    uint64_t values[3];
    if (read(descriptor, values, sizeof values) != sizeof values) fail("read a counter");
    if (values[1] != values[2]) {
        fprintf(stderr, "count: the processor has too few counters\n");
        exit(1);
    }
    return values[0];
}

static uint64_t system_call_event(void) {
    unsigned long long number;
    FILE *file = fopen(SYSTEM_CALL_EVENT, "r");
    if (!file || fscanf(file, "%llu", &number) != 1) fail(SYSTEM_CALL_EVENT);
    fclose(file);
    return number;
}

// Starts the program in a child that waits for the returned descriptor's end.
static int start(char **command) {
    int gate[2];
    if (pipe(gate) < 0) fail("pipe");
    child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        char byte;
        close(gate[1]);
        while (read(gate[0], &byte, 1) < 0 && errno == EINTR) {}
        close(gate[0]);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    close(gate[0]);
    return gate[1];
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: count RESULT.json PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    int gate = start(arguments + 2);
    int user = counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 1);
    int kernel = counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1, 0);
    int calls = counter(PERF_TYPE_TRACEPOINT, system_call_event(), 0, 0);
    signal(SIGTERM, pass_on);
    signal(SIGINT, pass_on);
    close(gate);
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) fail("waitpid");
    }
    FILE *result = fopen(arguments[1], "w");
    if (!result) fail(arguments[1]);
    fprintf(
        result, "{\"user\": %llu, \"kernel\": %llu, \"calls\": %llu, \"status\": %d}\n",
        (unsigned long long)count_of(user), (unsigned long long)count_of(kernel), (unsigned long long)count_of(calls),
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return fclose(result) == 0 ? 0 : 1;
}
