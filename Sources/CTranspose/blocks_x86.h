// blocks.h for SSE2, which every x86-64 processor has, and for AVX2.
#include <immintrin.h>

#define BLOCK_ROWS 16

// Also prefetches the next cache line, where the blocks below continue. So many rows growing at once exceed what the processor
// predicts by itself.
INLINE void store_16(uint8_t *to, __m128i x) {
    _mm_storeu_si128((__m128i *)to, x);
    __builtin_prefetch(to + 64, 1);
}

INLINE __m128i load_8(const uint8_t *from) { return _mm_loadl_epi64((const __m128i *)from); }

// Interleaves bytes of rows that are half of all rows apart.
INLINE void interleave_16(__m128i *to, const __m128i *from) {
    UNROLL for (int i = 0; i < 4; i++) {
        to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + 4]);
        to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + 4]);
    }
}

// Half a block, for which there are enough registers.
INLINE void transpose_8_columns(target to, const uint8_t *from, ptrdiff_t stride) {
    __m128i a[8], b[8];
    UNROLL for (int i = 0; i < 8; i++)
        a[i] = _mm_unpacklo_epi8(load_8(from + i * stride), load_8(from + (i + 8) * stride));
    interleave_16(b, a);
    interleave_16(a, b);
    interleave_16(b, a);
    UNROLL for (int i = 0; i < 4; i++) {
        store_16(to.even + i * to.step, b[2 * i]);
        store_16(to.odd + i * to.step, b[2 * i + 1]);
    }
}

static void transpose_16_rows(target to, const uint8_t *from, ptrdiff_t stride, size_t count) {
    for (size_t half = 0; half < 2 * count; half++, from += 8) {
        transpose_8_columns(to, from, stride);
        to.even += 4 * to.step;
        to.odd += 4 * to.step;
    }
}

#define AVX2 __attribute__((target("avx2")))

AVX2 INLINE void store_32(uint8_t *to, __m256i x) {
    _mm256_storeu_si256((__m256i *)to, x);
    __builtin_prefetch(to + 64, 1);
}

AVX2 INLINE __m256i load_two(const uint8_t *low, const uint8_t *high) {
    __m128i first = _mm_loadu_si128((const __m128i *)low), second = _mm_loadu_si128((const __m128i *)high);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

AVX2 INLINE void interleave_32(__m256i *to, const __m256i *from) {
    UNROLL for (int i = 0; i < 8; i++) {
        to[2 * i] = _mm256_unpacklo_epi8(from[i], from[i + 8]);
        to[2 * i + 1] = _mm256_unpackhi_epi8(from[i], from[i + 8]);
    }
}

// Loads rows 0 to 15 into the low halves of registers and 16 to 31 into the high halves: the first step. Four at a time,
// because an address can encode only few multiples of the stride.
AVX2 INLINE void load_rows(__m256i *to, const uint8_t *from, ptrdiff_t stride) {
    const uint8_t *second = from + 8 * stride, *third = second + 8 * stride, *fourth = third + 8 * stride;
    UNROLL for (int i = 0; i < 4; i++) {
        __m256i upper = load_two(from + i * stride, third + i * stride);
        __m256i lower = load_two(second + i * stride, fourth + i * stride);
        to[2 * i] = _mm256_unpacklo_epi8(upper, lower);
        to[2 * i + 1] = _mm256_unpackhi_epi8(upper, lower);
    }
}

// A separate function, because inside the loop more multiples of the stride than there are registers would be kept in memory.
AVX2 static __attribute__((noinline)) void transpose_block_of_32_rows(
    uint8_t *even, uint8_t *odd, ptrdiff_t step, const uint8_t *from, ptrdiff_t stride) {
    __m256i a[16], b[16];
    load_rows(a, from, stride);
    load_rows(a + 8, from + 4 * stride, stride);
    interleave_32(b, a);
    interleave_32(a, b);
    interleave_32(b, a);
    UNROLL for (int i = 0; i < 8; i++) {
        store_32(even + i * step, b[2 * i]);
        store_32(odd + i * step, b[2 * i + 1]);
    }
}

AVX2 static void transpose_32_rows(target to, const uint8_t *from, ptrdiff_t stride, size_t count) {
    for (; count > 0; count--, from += BLOCK_COLUMNS) {
        transpose_block_of_32_rows(to.even, to.odd, to.step, from, stride);
        to.even += 8 * to.step;
        to.odd += 8 * to.step;
    }
}
