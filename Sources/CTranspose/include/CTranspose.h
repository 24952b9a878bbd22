// Transposes planes, the building block of rotation by a quarter turn. Uses NEON or SSE2 if the target has them, and AVX2 if
// the processor has it. Each function has a scalar twin, with the suffix `_scalar`, that gives the same bytes; the tests
// compare the two. Planes may have any size, stride and alignment but must not overlap. Nothing outside of them is read or
// written.
//
// A stride may be negative, with a pointer to the last row. With the source upside down, a plane is rotated clockwise; with the
// target upside down, counterclockwise; with neither or both, its mirror image is.
#ifndef CTRANSPOSE_H
#define CTRANSPOSE_H
#include <stddef.h>
#include <stdint.h>

// Column x of `from`, which has `width` columns and `height` rows, becomes row x of `to`.
void ctranspose_plane(
    uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height);
void ctranspose_plane_scalar(
    uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height);

// The same for pairs (U and V of NV12), `width` of them per row, into one plane each.
void ctranspose_pairs(
    uint8_t *u, uint8_t *v, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height);
void ctranspose_pairs_scalar(
    uint8_t *u, uint8_t *v, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height);

#endif
