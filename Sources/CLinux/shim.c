#define _GNU_SOURCE
#include "CLinux.h"

#include <netinet/in.h>
#include <nss.h>
#include <resolv.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

const char *clinux_error_text(int number) { return strerrordesc_np(number); }

const char *clinux_error_name(int number) { return strerrorname_np(number); }

int clinux_ppoll(struct pollfd *entries, nfds_t count, const struct timespec *timeout) {
    return ppoll(entries, count, timeout, NULL);
}

int clinux_accept4(int socket, struct sockaddr *address, socklen_t *length, int flags) {
    return accept4(socket, address, length, flags);
}

int clinux_syncfs(int descriptor) { return syncfs(descriptor); }

long clinux_clock_error(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result < 0 || result == TIME_ERROR ? -1 : state.maxerror;
}

int clinux_name_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }

void clinux_getopt_restart(void) {
    optind = 0;
    opterr = 0;
}

void clinux_lower_priority(int nice) {
    setpriority(PRIO_PROCESS, 0, nice);
}

struct clinux_getopt_step clinux_getopt_long(
    int count, char **arguments, const char *short_options, const struct option *long_options) {
    struct clinux_getopt_step step;
    step.value = getopt_long(count, arguments, short_options, long_options, NULL);
    step.option = optopt;
    step.next = optind;
    step.argument = optarg;
    return step;
}

int clinux_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }

int clinux_configure_lookup(const char *database, const char *sources) {
    return __nss_configure_lookup(database, sources);
}

void clinux_hurry_lookups(int rotates) {
    if (res_init() != 0) return;
    // glibc does not override values that the program has set here when resolv.conf changes (resolv_context.c).
    _res.retrans = 1;
    _res.retry = 5;
    if (rotates) _res.options |= RES_ROTATE;
}

const char *clinux_lookup_error_text(int number) { return gai_strerror(number); }

int clinux_ask_watchdog(int device) {
    struct watchdog_info info;
    return ioctl(device, WDIOC_GETSUPPORT, &info);
}

int clinux_set_watchdog_timeout(int watchdog, int *seconds) { return ioctl(watchdog, WDIOC_SETTIMEOUT, seconds); }
