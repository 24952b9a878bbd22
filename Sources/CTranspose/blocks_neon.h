// blocks.h for NEON of 64-bit ARM.
#include <arm_neon.h>

#define BLOCK_ROWS 16

// Gathers the bytes of each column from four rows: element [i] has those of columns i, i + 4, i + 8 and i + 12.
INLINE uint32x4x4_t four_rows(const uint8_t *from, ptrdiff_t stride) {
    uint8x16_t first = vld1q_u8(from), second = vld1q_u8(from + stride);
    uint8x16_t third = vld1q_u8(from + 2 * stride), fourth = vld1q_u8(from + 3 * stride);
    uint16x8_t even = vreinterpretq_u16_u8(vtrn1q_u8(first, second));
    uint16x8_t odd = vreinterpretq_u16_u8(vtrn2q_u8(first, second));
    uint16x8_t even_below = vreinterpretq_u16_u8(vtrn1q_u8(third, fourth));
    uint16x8_t odd_below = vreinterpretq_u16_u8(vtrn2q_u8(third, fourth));
    return (uint32x4x4_t){{
        vreinterpretq_u32_u16(vtrn1q_u16(even, even_below)),
        vreinterpretq_u32_u16(vtrn1q_u16(odd, odd_below)),
        vreinterpretq_u32_u16(vtrn2q_u16(even, even_below)),
        vreinterpretq_u32_u16(vtrn2q_u16(odd, odd_below)),
    }};
}

// Stores every fourth column and returns the place of the next block's first column.
INLINE uint8_t *store_columns(uint8_t *to, ptrdiff_t jump, uint32x4_t a, uint32x4_t b, uint32x4_t c, uint32x4_t d) {
    uint32x4x4_t rows = {{a, b, c, d}};
    vst4q_lane_u32((uint32_t *)to, rows, 0);
    to += jump;
    vst4q_lane_u32((uint32_t *)to, rows, 1);
    to += jump;
    vst4q_lane_u32((uint32_t *)to, rows, 2);
    to += jump;
    vst4q_lane_u32((uint32_t *)to, rows, 3);
    return to + jump;
}

// Does two of the four steps; storing the same lane of four registers does the other two. For a Cortex-A53, compilers assume
// two cycles for such a store, one more than for a plain store, and one for each of the two permutations that it saves.
static void transpose_16_rows(target to, const uint8_t *from, ptrdiff_t stride, size_t count) {
    ptrdiff_t jump = 2 * to.step;
    uint8_t *columns[4] = {to.even, to.odd, to.even + to.step, to.odd + to.step};
    const uint8_t *rows[4] = {from, from + 4 * stride, from + 8 * stride, from + 12 * stride};
    // Hides how the values depend on each other. Otherwise the compiler would recompute them for each block.
    UNROLL for (int i = 0; i < 4; i++) __asm__("" : "+r"(rows[i]), "+r"(columns[i]));
    for (; count > 0; count--) {
        uint32x4x4_t four[4];
        UNROLL for (int i = 0; i < 4; i++) {
            four[i] = four_rows(rows[i], stride);
            rows[i] += BLOCK_COLUMNS;
        }
        UNROLL for (int i = 0; i < 4; i++)
            columns[i] = store_columns(
                columns[i], jump, four[0].val[i], four[1].val[i], four[2].val[i], four[3].val[i]);
    }
}
