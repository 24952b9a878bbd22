// Rows become columns: what rotating by a quarter turn is made of, with NEON or SSE2 where the target has them, and with AVX2 where
// the processor has it. Each function has a scalar twin of the same name with `_scalar`, which gives the same bytes; the tests
// compare them. Planes may have any size, stride and alignment and do not overlap; nothing outside of them is read or written.
//
// A stride may be negative, with a pointer at the last row. With the source upside down a plane is turned clockwise, with the
// target upside down counterclockwise; with neither, or with both, its mirror image is.
#ifndef CTRANSPOSE_H
#define CTRANSPOSE_H
#include <stddef.h>
#include <stdint.h>

// Column x of `from`, which has `width` columns and `height` rows, becomes row x of `to`.
void ctranspose_plane(
    uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height);
void ctranspose_plane_scalar(
    uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height);

// The same of pairs (U and V of NV12), of which a row has `width`, into a plane of each.
void ctranspose_pairs(
    uint8_t *u, uint8_t *v, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height);
void ctranspose_pairs_scalar(
    uint8_t *u, uint8_t *v, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height);

#endif
