#include "CFilterKernels.h"
#include "lanes.h"

static uint8_t clamped(int x) { return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x); }

void cfilter_whiten_scalar(uint8_t *luma, size_t count, uint8_t black, uint8_t range, uint16_t factor) {
    for (size_t i = 0; i < count; i++) {
        unsigned y = luma[i] < black ? 0 : luma[i] - black;
        if (y > range) y = range;
        luma[i] = clamped((int)(luma[i] + (y * (range - y) * factor >> 16)));
    }
}

void cfilter_whiten(uint8_t *luma, size_t count, uint8_t black, uint8_t range, uint16_t factor) {
    size_t i = 0;
#if HAS_LANES
    bytes blacks = all_bytes(black), ranges = all_bytes(range);
    words factors = all_words(factor);
    for (; i + 16 <= count; i += 16) {
        bytes given = load_bytes(luma + i);
        bytes y = smaller(less(given, blacks), ranges), rest = less(ranges, y);
        words low = high_half(low_product(y, rest), factors), high = high_half(high_product(y, rest), factors);
        store_bytes(luma + i, more(given, narrowed(low, high)));
    }
#endif
    cfilter_whiten_scalar(luma + i, count - i, black, range, factor);
}

// The mean of the four luma samples that start at a column.
static int mean_light(const uint8_t *upper, const uint8_t *lower, size_t column, size_t width, uint8_t black) {
    size_t next = column + 1 < width ? column + 1 : column;
    int mean = (upper[column] + upper[next] + lower[column] + lower[next] + 2) >> 2;
    return mean < black ? 0 : mean - black;
}

// C leaves shifting negative numbers to the implementation. The compilers for both targets keep the sign, as the lanes do.
static int tinted(int chroma, int light, int factor) { return clamped(chroma + ((light * factor + 128) >> 8)); }

void cfilter_tint_pairs_scalar(
    uint8_t *pairs, const uint8_t *upper, const uint8_t *lower, size_t width, cfilter_tint tint) {
    for (size_t column = 0; column < width; column += 2, pairs += 2) {
        int light = mean_light(upper, lower, column, width, tint.black);
        pairs[0] = (uint8_t)tinted(pairs[0], light, tint.u);
        pairs[1] = (uint8_t)tinted(pairs[1], light, tint.v);
    }
}

void cfilter_tint_planes_scalar(
    uint8_t *u, uint8_t *v, const uint8_t *upper, const uint8_t *lower, size_t width, cfilter_tint tint) {
    for (size_t column = 0; column < width; column += 2, u++, v++) {
        int light = mean_light(upper, lower, column, width, tint.black);
        *u = (uint8_t)tinted(*u, light, tint.u);
        *v = (uint8_t)tinted(*v, light, tint.v);
    }
}

#if HAS_LANES
// For eight chroma samples.
LANE words mean_lights(const uint8_t *upper, const uint8_t *lower, words blacks) {
    words sums = add(pair_sums(load_bytes(upper)), pair_sums(load_bytes(lower)));
    return less_words(shifted_right(add(sums, all_words(2)), 2), blacks);
}

LANE words tints(words lights, words factors) {
    return divided(add(times(lights, factors), all_words(128)), 8);
}
#endif

void cfilter_tint_pairs(
    uint8_t *pairs, const uint8_t *upper, const uint8_t *lower, size_t width, cfilter_tint tint) {
    size_t i = 0;
#if HAS_LANES
    words blacks = all_words(tint.black), u = all_words((uint16_t)tint.u), v = all_words((uint16_t)tint.v);
    for (; i + 16 <= width; i += 16) {
        words lights = mean_lights(upper + i, lower + i, blacks), more_u = tints(lights, u), more_v = tints(lights, v);
        bytes given = load_bytes(pairs + i);
        words low = add(low_words(given), low_zip(more_u, more_v));
        words high = add(high_words(given), high_zip(more_u, more_v));
        store_bytes(pairs + i, narrowed(low, high));
    }
#endif
    cfilter_tint_pairs_scalar(pairs + i, upper + i, lower + i, width - i, tint);
}

void cfilter_tint_planes(
    uint8_t *u, uint8_t *v, const uint8_t *upper, const uint8_t *lower, size_t width, cfilter_tint tint) {
    size_t i = 0;
#if HAS_LANES
    words blacks = all_words(tint.black), by_u = all_words((uint16_t)tint.u), by_v = all_words((uint16_t)tint.v);
    for (; i + 16 <= width; i += 16) {
        words lights = mean_lights(upper + i, lower + i, blacks);
        store_narrowed(u + i / 2, add(load_widened(u + i / 2), tints(lights, by_u)));
        store_narrowed(v + i / 2, add(load_widened(v + i / 2), tints(lights, by_v)));
    }
#endif
    cfilter_tint_planes_scalar(u + i / 2, v + i / 2, upper + i, lower + i, width - i, tint);
}
