// alsa-lib. The library's own messages on standard error, which can only be turned off by a variadic function, are
// turned off here.
#ifndef CALSA_H
#define CALSA_H
#include <alsa/asoundlib.h>

void calsa_be_quiet(void);
#endif
