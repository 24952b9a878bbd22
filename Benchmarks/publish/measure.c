// Runs a program and writes its use of resources, as one line of JSON: wall and CPU
// seconds, peak resident bytes, exit status (or 128 and the signal). A separate small
// program, because a child's peak starts with its parent's.
//
//     measure RESULT.json PROGRAM [ARGUMENT...]
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;

static void pass_on(int number) { kill(child, number); }

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: measure RESULT.json PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    double start = now();
    child = fork();
    if (child == 0) {
        execvp(arguments[2], arguments + 2);
        perror(arguments[2]);
        _exit(127);
    }
    signal(SIGTERM, pass_on);
    signal(SIGINT, pass_on);
    int status;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0) {}
    double end = now();
    FILE *result = fopen(arguments[1], "w");
    if (!result) {
        perror(arguments[1]);
        return 1;
    }
    fprintf(
        result, "{\"start\": %.6f, \"wall\": %.6f, \"user\": %.6f, \"system\": %.6f, \"peak\": %ld, \"status\": %d}\n",
        start, end - start, seconds(usage.ru_utime), seconds(usage.ru_stime), usage.ru_maxrss * 1024,
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return fclose(result) == 0 ? 0 : 1;
}
