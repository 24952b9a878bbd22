// The resampler of speexdsp.
#ifndef CRESAMPLER_H
#define CRESAMPLER_H
#include <speex/speex_resampler.h>
#endif
