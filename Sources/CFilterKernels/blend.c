#include "CFilterKernels.h"
#include "lanes.h"

void cfilter_blend_scalar(uint8_t *samples, const uint8_t *source, const uint8_t *alpha, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unsigned sum = source[i] * alpha[i] + samples[i] * (255u - alpha[i]) + 128;
        samples[i] = (uint8_t)((sum + (sum >> 8)) >> 8);
    }
}

void cfilter_blend(uint8_t *samples, const uint8_t *source, const uint8_t *alpha, size_t count) {
    size_t i = 0;
#if HAS_LANES
    for (; i + 16 <= count; i += 16) {
        bytes below = load_bytes(samples + i), above = load_bytes(source + i), opacity = load_bytes(alpha + i);
        bytes rest = inverted(opacity);
        words low = add_low_product(low_product(below, rest), above, opacity);
        words high = add_high_product(high_product(below, rest), above, opacity);
        store_bytes(samples + i, divided_by_255(low, high));
    }
#endif
    cfilter_blend_scalar(samples + i, source + i, alpha + i, count - i);
}
