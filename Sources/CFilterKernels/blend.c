#include "CFilterKernels.h"
#include "lanes.h"

static uint8_t more_of(unsigned x, unsigned y) { return (uint8_t)(x + y > 255 ? 255 : x + y); }

void cfilter_blend_scalar(uint8_t *samples, const uint8_t *source, const uint8_t *rest, size_t count) {
    for (size_t i = 0; i < count; i++) samples[i] = more_of(source[i], (samples[i] * rest[i] + 127) / 255);
}

void cfilter_blend(uint8_t *samples, const uint8_t *source, const uint8_t *rest, size_t count) {
    size_t i = 0;
#if HAS_LANES
    for (; i + 16 <= count; i += 16) {
        bytes below = load_bytes(samples + i), part = load_bytes(rest + i);
        bytes left = divided_by_255(low_product(below, part), high_product(below, part));
        store_bytes(samples + i, more(load_bytes(source + i), left));
    }
#endif
    cfilter_blend_scalar(samples + i, source + i, rest + i, count - i);
}
