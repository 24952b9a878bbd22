// Where columns go: even columns to rows that are `step` apart from `even` on, odd columns to rows from `odd` on. For a plane
// these are its even and odd rows, for pairs the rows of two planes.
#ifndef BLOCKS_H
#define BLOCKS_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *even, *odd;
    ptrdiff_t step;
} target;

#define BLOCK_COLUMNS 16
// Transposes `count` adjacent blocks, each with BLOCK_COLUMNS columns and the number of rows in the function's name.
typedef void transposer(target to, const uint8_t *from, ptrdiff_t stride, size_t count);

#define INLINE static inline __attribute__((always_inline))
// Unrolls loops over arrays, which compilers keep in registers only then.
#define UNROLL _Pragma("GCC unroll 8")

#if defined(__ARM_NEON) && defined(__aarch64__)
#include "blocks_neon.h"
#elif defined(__x86_64__)
#include "blocks_x86.h"
#endif

#endif
