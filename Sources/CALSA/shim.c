#include "CALSA.h"

static void say_nothing(const char *file, int line, const char *function, int number, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)number, (void)format;
}

void calsa_be_quiet(void) { snd_lib_error_set_handler(say_nothing); }
