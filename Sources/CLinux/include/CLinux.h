// What Swift cannot import from Linux's headers: function-like macros and
// variadic calls. No logic.
#ifndef CLINUX_H
#define CLINUX_H
#include <errno.h>
#include <getopt.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#endif
