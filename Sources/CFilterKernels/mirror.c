#include "CFilterKernels.h"
#include "lanes.h"

// From both ends to the middle.
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

void cfilter_mirror(uint8_t *samples, size_t count) {
    size_t done = 0;
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
