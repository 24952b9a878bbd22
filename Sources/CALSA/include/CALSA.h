// alsa-lib, with its own messages on standard error turned off. Only a variadic function can do that, so it is done here.
#ifndef CALSA_H
#define CALSA_H
#include <alsa/asoundlib.h>

void calsa_be_quiet(void);
#endif
