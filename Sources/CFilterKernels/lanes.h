// Sixteen bytes at a time: the operations of NEON and SSE2 that the kernels need, under common names. HAS_LANES is 0 without
// either.
//
// bytes: 16 x uint8_t; words: 8 x uint16_t or int16_t; quads: 4 x int32_t; floats: 4 x float. `low` and `high` are halves.
#ifndef LANES_H
#define LANES_H
#include <stddef.h>
#include <stdint.h>

#define LANE static inline __attribute__((always_inline, unused))

#if defined(__ARM_NEON) && defined(__aarch64__)
#define HAS_LANES 1
#include "lanes_neon.h"
#elif defined(__SSE2__)
#define HAS_LANES 1
#include "lanes_sse2.h"
#else
#define HAS_LANES 0
#endif

#endif
