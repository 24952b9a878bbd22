#include "CFilterKernels.h"
#include "lanes.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// From both ends toward the middle.
static void swap(uint8_t *left, uint8_t *right, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t sample = left[i];
        left[i] = right[i];
        right[i] = sample;
    }
}

void cfilter_mirror_scalar(uint8_t *samples, size_t count) {
    for (size_t i = 0; i < count / 2; i++) swap(samples + i, samples + count - 1 - i, 1);
}

void cfilter_mirror_pairs_scalar(uint8_t *samples, size_t pair_count) {
    for (size_t i = 0; i < pair_count / 2; i++) swap(samples + 2 * i, samples + 2 * (pair_count - 1 - i), 2);
}

#if defined(__x86_64__)
// SSE2 cannot shuffle bytes; AVX2 needs a third of the instructions. Returns the number of bytes done at each end.
__attribute__((target("avx2"))) static size_t mirror_wide(uint8_t *samples, size_t count, __m128i order) {
    size_t done = 0;
    __m256i both = _mm256_broadcastsi128_si256(order);
    for (; count - 2 * done >= 64; done += 32) {
        __m256i *left = (__m256i *)(samples + done), *right = (__m256i *)(samples + count - done - 32);
        __m256i first = _mm256_shuffle_epi8(_mm256_loadu_si256(left), both);
        __m256i last = _mm256_shuffle_epi8(_mm256_loadu_si256(right), both);
        _mm256_storeu_si256(left, _mm256_permute4x64_epi64(last, 0x4E));
        _mm256_storeu_si256(right, _mm256_permute4x64_epi64(first, 0x4E));
    }
    return done;
}

static size_t mirror_start(uint8_t *samples, size_t count, __m128i order) {
    return __builtin_cpu_supports("avx2") ? mirror_wide(samples, count, order) : 0;
}
#endif

void cfilter_mirror(uint8_t *samples, size_t count) {
    size_t done = 0;
#if defined(__x86_64__)
    done = mirror_start(samples, count, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
#endif
#if HAS_LANES
    for (; count - 2 * done >= 32; done += 16) {
        uint8_t *left = samples + done, *right = samples + count - done - 16;
        bytes first = load_bytes(left), last = load_bytes(right);
        store_bytes(left, reversed(last));
        store_bytes(right, reversed(first));
    }
#endif
    cfilter_mirror_scalar(samples + done, count - 2 * done);
}

void cfilter_mirror_pairs(uint8_t *samples, size_t pair_count) {
    size_t done = 0, count = 2 * pair_count;
#if defined(__x86_64__)
    done = mirror_start(samples, count, _mm_set_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
#endif
#if HAS_LANES
    for (; count - 2 * done >= 32; done += 16) {
        uint8_t *left = samples + done, *right = samples + count - done - 16;
        bytes first = load_bytes(left), last = load_bytes(right);
        store_bytes(left, reversed_pairs(last));
        store_bytes(right, reversed_pairs(first));
    }
#endif
    cfilter_mirror_pairs_scalar(samples + done, (count - 2 * done) / 2);
}
