// Detects skin by its chroma, which is very similar for all people: a rectangle in Cb and Cr, Cb 77 to 127 and Cr 133 to 173
// (D. Chai, K. N. Ngan: Face segmentation using skin-color map in videophone applications, IEEE Trans. Circuits and Systems for
// Video Technology 9(4), 1999). Its edges are soft here to avoid flicker: from 4 outside, which does not reach gray yet, to 4
// inside.
#include "CFilterKernels.h"
#include "lanes.h"

enum { LEAST_CB = 77 - 4, MOST_CB = 127 + 4, LEAST_CR = 133 - 4, MOST_CR = 173 + 4 };

static int least(int x, int y) { return x < y ? x : y; }
static int inside(int x, int from, int to) { return x < from || x > to ? 0 : least(x - from, to - x); }
static int clamped(int x) { return x < 0 ? 0 : x > 255 ? 255 : x; }

static uint8_t weight(int u, int v, cfilter_skin skin) {
    u -= 128;
    v -= 128;
    int cb = clamped(128 + ((u * skin.to_601[0] + v * skin.to_601[1] + 32) >> 6));
    int cr = clamped(128 + ((u * skin.to_601[2] + v * skin.to_601[3] + 32) >> 6));
    return (uint8_t)least(least(inside(cb, LEAST_CB, MOST_CB), inside(cr, LEAST_CR, MOST_CR)), CFILTER_WHOLE_SKIN);
}

int cfilter_skin_of_pairs_scalar(uint8_t *weights, const uint8_t *pairs, size_t count, cfilter_skin skin) {
    int any = 0;
    for (size_t i = 0; i < count; i++) any |= weights[i] = weight(pairs[2 * i], pairs[2 * i + 1], skin);
    return any != 0;
}

int cfilter_skin_of_planes_scalar(
    uint8_t *weights, const uint8_t *u, const uint8_t *v, size_t count, cfilter_skin skin) {
    int any = 0;
    for (size_t i = 0; i < count; i++) any |= weights[i] = weight(u[i], v[i], skin);
    return any != 0;
}

#if HAS_LANES
typedef struct {
    words to_601[4];
} skin_lanes;

LANE skin_lanes lanes_of(cfilter_skin skin) {
    skin_lanes lanes;
    for (int i = 0; i < 4; i++) lanes.to_601[i] = all_words((uint16_t)skin.to_601[i]);
    return lanes;
}

LANE words converted(words u, words v, words by_u, words by_v) {
    words sum = add(add(times(u, by_u), times(v, by_v)), all_words(32));
    return add(divided(sum, 6), all_words(128));
}

LANE bytes lanes_inside(bytes x, uint8_t from, uint8_t to) {
    return smaller(less(x, all_bytes(from)), less(all_bytes(to), x));
}

// For eight chroma samples, in both halves of the result.
LANE bytes store_weights(uint8_t *weights, words u, words v, skin_lanes skin) {
    u = subtract(u, all_words(128));
    v = subtract(v, all_words(128));
    words cb = converted(u, v, skin.to_601[0], skin.to_601[1]), cr = converted(u, v, skin.to_601[2], skin.to_601[3]);
    bytes both = smaller(
        lanes_inside(narrowed(cb, cb), LEAST_CB, MOST_CB), lanes_inside(narrowed(cr, cr), LEAST_CR, MOST_CR));
    both = smaller(both, all_bytes(CFILTER_WHOLE_SKIN));
    store_narrowed(weights, low_words(both));
    return both;
}
#endif

int cfilter_skin_of_pairs(uint8_t *weights, const uint8_t *pairs, size_t count, cfilter_skin skin) {
    size_t i = 0;
    int any = 0;
#if HAS_LANES
    skin_lanes lanes = lanes_of(skin);
    bytes found = all_bytes(0);
    for (; i + 8 <= count; i += 8) {
        bytes given = load_bytes(pairs + 2 * i);
        found = either(found, store_weights(weights + i, even_bytes(given), odd_bytes(given), lanes));
    }
    any = !is_zero(found);
#endif
    return cfilter_skin_of_pairs_scalar(weights + i, pairs + 2 * i, count - i, skin) | any;
}

int cfilter_skin_of_planes(uint8_t *weights, const uint8_t *u, const uint8_t *v, size_t count, cfilter_skin skin) {
    size_t i = 0;
    int any = 0;
#if HAS_LANES
    skin_lanes lanes = lanes_of(skin);
    bytes found = all_bytes(0);
    for (; i + 8 <= count; i += 8) {
        found = either(found, store_weights(weights + i, load_widened(u + i), load_widened(v + i), lanes));
    }
    any = !is_zero(found);
#endif
    return cfilter_skin_of_planes_scalar(weights + i, u + i, v + i, count - i, skin) | any;
}
