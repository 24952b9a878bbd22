#include "CTranspose.h"
#include "blocks.h"

static target rows_of_plane(uint8_t *to, ptrdiff_t stride) { return (target){to, to + stride, 2 * stride}; }

static void transpose_scalar(target to, const uint8_t *from, ptrdiff_t stride, size_t width, size_t height) {
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            (x % 2 == 0 ? to.even : to.odd)[(ptrdiff_t)(x / 2) * to.step + (ptrdiff_t)y] =
                from[(ptrdiff_t)y * stride + (ptrdiff_t)x];
}

#if defined(BLOCK_ROWS)
// The target from a column on. Starting at an odd column, which happens only for planes, swaps odd and even rows.
static target target_of(target to, size_t column, size_t row) {
    ptrdiff_t offset = (ptrdiff_t)(column / 2) * to.step + (ptrdiff_t)row;
    if (column % 2 == 0) return (target){to.even + offset, to.odd + offset, to.step};
    return (target){to.odd + offset, to.even + offset + to.step, to.step};
}

// Two cache lines of each source row, so that these are read completely, and 128 target lines, which stay in the first-level
// cache until they are written completely.
#define TILE_COLUMNS 128

// An incomplete block at the right or bottom edge becomes a full block that overlaps its neighbor.
static void transpose_blocks(
    target to, const uint8_t *from, ptrdiff_t stride, size_t width, size_t height, transposer *blocks, size_t rows) {
    for (size_t left = 0; left < width; left += TILE_COLUMNS) {
        size_t right = left + TILE_COLUMNS < width ? left + TILE_COLUMNS : width;
        for (size_t top = 0; top < height; top += rows) {
            size_t row = top + rows < height ? top : height - rows;
            const uint8_t *first = from + (ptrdiff_t)row * stride;
            blocks(target_of(to, left, row), first + left, stride, (right - left) / BLOCK_COLUMNS);
            if (right % BLOCK_COLUMNS == 0) continue;
            blocks(target_of(to, right - BLOCK_COLUMNS, row), first + right - BLOCK_COLUMNS, stride, 1);
        }
    }
}
#endif

static void transpose(target to, const uint8_t *from, ptrdiff_t stride, size_t width, size_t height) {
#if defined(BLOCK_ROWS)
    if (width >= BLOCK_COLUMNS && height >= BLOCK_ROWS) {
#if defined(__x86_64__)
        if (height >= 32 && __builtin_cpu_supports("avx2")) {
            transpose_blocks(to, from, stride, width, height, transpose_32_rows, 32);
            return;
        }
#endif
        transpose_blocks(to, from, stride, width, height, transpose_16_rows, BLOCK_ROWS);
        return;
    }
#endif
    transpose_scalar(to, from, stride, width, height);
}

void ctranspose_plane(
    uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height) {
    transpose(rows_of_plane(to, to_stride), from, from_stride, width, height);
}

void ctranspose_plane_scalar(
    uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height) {
    transpose_scalar(rows_of_plane(to, to_stride), from, from_stride, width, height);
}

void ctranspose_pairs(
    uint8_t *u, uint8_t *v, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height) {
    transpose((target){u, v, to_stride}, from, from_stride, 2 * width, height);
}

void ctranspose_pairs_scalar(
    uint8_t *u, uint8_t *v, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t width, size_t height) {
    transpose_scalar((target){u, v, to_stride}, from, from_stride, 2 * width, height);
}
