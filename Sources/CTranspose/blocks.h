// Where columns go: even ones to rows that are `step` apart from `even` on, odd ones from `odd` on. For a plane these are the even
// and the odd rows, for pairs the rows of two planes.
#ifndef BLOCKS_H
#define BLOCKS_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *even, *odd;
    ptrdiff_t step;
} target;

#define BLOCK_COLUMNS 16
// Transposes `count` blocks beside each other, each of BLOCK_COLUMNS and of as many rows as the function says.
typedef void transposer(target to, const uint8_t *from, ptrdiff_t stride, size_t count);

#define INLINE static inline __attribute__((always_inline))
// For loops over arrays, which are registers only where each such loop is unrolled.
#define UNROLL _Pragma("GCC unroll 8")

#if defined(__ARM_NEON) && defined(__aarch64__)
#include "blocks_neon.h"
#elif defined(__x86_64__)
#include "blocks_x86.h"
#endif

#endif
