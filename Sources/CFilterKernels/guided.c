// The guided filter with the frame as its own guide (K. He, J. Sun, X. Tang: Guided Image Filtering, ECCV 2010). Its linear
// model is computed at half size (K. He, J. Sun: Fast Guided Filter, 2015). Where skin.c finds no skin, the model is the
// identity.
#include "CFilterKernels.h"
#include "lanes.h"

// Scalar code and lanes must compute the same sums, so products are not fused with sums.
#pragma STDC FP_CONTRACT OFF

void cfilter_halve_scalar(uint8_t *half, const uint8_t *upper, const uint8_t *lower, size_t width) {
    for (size_t column = 0; column < width; column += 2) {
        size_t next = column + 1 < width ? column + 1 : column;
        *half++ = (uint8_t)((upper[column] + upper[next] + lower[column] + lower[next] + 2) >> 2);
    }
}

void cfilter_halve(uint8_t *half, const uint8_t *upper, const uint8_t *lower, size_t width) {
    size_t i = 0;
#if HAS_LANES
    for (; i + 16 <= width; i += 16) {
        words sums = add(pair_sums(load_bytes(upper + i)), pair_sums(load_bytes(lower + i)));
        store_narrowed(half + i / 2, shifted_right(add(sums, all_words(2)), 2));
    }
#endif
    cfilter_halve_scalar(half + i / 2, upper + i, lower + i, width - i);
}

void cfilter_move_sums_scalar(
    uint16_t *sums, int32_t *squares, const uint8_t *entering, const uint8_t *leaving, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sums[i] = (uint16_t)(sums[i] + entering[i] - leaving[i]);
        squares[i] += entering[i] * entering[i] - leaving[i] * leaving[i];
    }
}

void cfilter_move_sums(
    uint16_t *sums, int32_t *squares, const uint8_t *entering, const uint8_t *leaving, size_t count) {
    size_t i = 0;
#if HAS_LANES
    for (; i + 8 <= count; i += 8) {
        words new = load_widened(entering + i), old = load_widened(leaving + i);
        // The difference of two squares is the difference times the sum.
        words difference = subtract(new, old), sum = add(new, old);
        store_words(sums + i, add(load_words(sums + i), difference));
        store_quads(squares + i, add_low_products(load_quads(squares + i), difference, sum));
        store_quads(squares + i + 4, add_high_products(load_quads(squares + i + 4), difference, sum));
    }
#endif
    cfilter_move_sums_scalar(sums + i, squares + i, entering + i, leaving + i, count - i);
}

void cfilter_move_wide_sums_scalar(
    uint16_t *sums, const uint16_t *entering, const uint16_t *leaving, size_t count) {
    for (size_t i = 0; i < count; i++) sums[i] = (uint16_t)(sums[i] + entering[i] - leaving[i]);
}

void cfilter_move_wide_sums(uint16_t *sums, const uint16_t *entering, const uint16_t *leaving, size_t count) {
    size_t i = 0;
#if HAS_LANES
    for (; i + 8 <= count; i += 8) {
        words difference = subtract(load_words(entering + i), load_words(leaving + i));
        store_words(sums + i, add(load_words(sums + i), difference));
    }
#endif
    cfilter_move_wide_sums_scalar(sums + i, entering + i, leaving + i, count - i);
}

// The factor that turns a sum over a window into four times its mean.
static float mean_factor(cfilter_window window) {
    float side = (float)(2 * window.radius + 1);
    return 4 / (side * side);
}

static float sample_count(cfilter_window window) {
    float side = (float)(2 * window.radius + 1);
    return side * side;
}

// Gain is variance / (variance + threshold). The filter removes 1 - gain, times strength, times the weight of skin.
void cfilter_model_scalar(
    uint16_t *gains, uint16_t *offsets, const uint16_t *sums, const int32_t *squares, const uint8_t *weights,
    size_t count, cfilter_window window) {
    float samples = sample_count(window), by_mean = mean_factor(window);
    const uint16_t *first_sum = sums - window.radius;
    const int32_t *first_square = squares - window.radius;
    for (size_t i = 0; i < count; i++) {
        int32_t sum = 0, square = 0;
        for (size_t column = 0; column <= 2 * window.radius; column++) {
            sum += first_sum[i + column];
            square += first_square[i + column];
        }
        float total = (float)sum, of_squares = (float)square * samples, squared = total * total;
        float variance = of_squares - squared;
        if (!(variance > 0)) variance = 0;
        float taken = (float)weights[i] * window.strength;
        taken = taken / (variance + window.threshold);
        float gain = taken * CFILTER_WHOLE_GAIN, offset = total * by_mean;
        offset = offset * taken;
        gains[i] = (uint16_t)(CFILTER_WHOLE_GAIN - (int32_t)(gain + 0.5f));
        offsets[i] = (uint16_t)(int32_t)(offset + 0.5f);
    }
}

#if HAS_LANES
// Sums over the windows around some samples. The radius has few values, so this is unrolled instead of a loop.
LANE words window_of_words(const uint16_t *middle, size_t radius) {
    words sum = add(load_words(middle), add(load_words(middle - 1), load_words(middle + 1)));
    if (radius > 1) sum = add(sum, add(load_words(middle - 2), load_words(middle + 2)));
    if (radius > 2) sum = add(sum, add(load_words(middle - 3), load_words(middle + 3)));
    return sum;
}

LANE quads window_of_quads(const int32_t *middle, size_t radius) {
    quads sum = add_quads(load_quads(middle), add_quads(load_quads(middle - 1), load_quads(middle + 1)));
    if (radius > 1) sum = add_quads(sum, add_quads(load_quads(middle - 2), load_quads(middle + 2)));
    if (radius > 2) sum = add_quads(sum, add_quads(load_quads(middle - 3), load_quads(middle + 3)));
    return sum;
}

typedef struct {
    floats threshold, strength, samples, by_mean;
} window_lanes;

LANE void model_of_four(quads *gains, quads *offsets, quads sum, quads square, quads weight, window_lanes window) {
    floats total = to_floats(sum), of_squares = multiply(to_floats(square), window.samples);
    floats variance = larger(subtract_floats(of_squares, multiply(total, total)), all_floats(0));
    floats taken = multiply(to_floats(weight), window.strength);
    taken = divide(taken, add_floats(variance, window.threshold));
    floats offset = multiply(multiply(total, window.by_mean), taken);
    *gains = to_quads(add_floats(multiply(taken, all_floats(CFILTER_WHOLE_GAIN)), all_floats(0.5f)));
    *offsets = to_quads(add_floats(offset, all_floats(0.5f)));
}
#endif

void cfilter_model(
    uint16_t *gains, uint16_t *offsets, const uint16_t *sums, const int32_t *squares, const uint8_t *weights,
    size_t count, cfilter_window window) {
    size_t i = 0;
#if HAS_LANES
    window_lanes lanes = {
        all_floats(window.threshold), all_floats(window.strength), all_floats(sample_count(window)),
        all_floats(mean_factor(window))};
    for (; i + 8 <= count; i += 8) {
        words sum = window_of_words(sums + i, window.radius);
        quads low = window_of_quads(squares + i, window.radius), high = window_of_quads(squares + i + 4, window.radius);
        words weight = load_widened(weights + i);
        quads gain[2], offset[2];
        model_of_four(&gain[0], &offset[0], low_quads(sum), low, low_quads(weight), lanes);
        model_of_four(&gain[1], &offset[1], high_quads(sum), high, high_quads(weight), lanes);
        store_words(gains + i, subtract(all_words(CFILTER_WHOLE_GAIN), narrowed_quads(gain[0], gain[1])));
        store_words(offsets + i, narrowed_quads(offset[0], offset[1]));
    }
#endif
    cfilter_model_scalar(gains + i, offsets + i, sums + i, squares + i, weights + i, count - i, window);
}

void cfilter_means_scalar(uint16_t *means, const uint16_t *sums, size_t count, size_t radius, uint16_t factor) {
    const uint16_t *first = sums - radius;
    for (size_t i = 0; i < count; i++) {
        uint32_t sum = 0;
        for (size_t column = 0; column <= 2 * radius; column++) sum += first[i + column];
        means[i] = (uint16_t)(sum * factor >> 16);
    }
}

void cfilter_means(uint16_t *means, const uint16_t *sums, size_t count, size_t radius, uint16_t factor) {
    size_t i = 0;
#if HAS_LANES
    words factors = all_words(factor);
    for (; i + 8 <= count; i += 8) {
        store_words(means + i, high_half(window_of_words(sums + i, radius), factors));
    }
#endif
    cfilter_means_scalar(means + i, sums + i, count - i, radius, factor);
}

// Three quarters of `near` and a quarter of `far`, computed as two rounded-up averages, like both targets do.
static unsigned nearer(unsigned near, unsigned far) { return (near + ((near + far + 1) >> 1) + 1) >> 1; }

void cfilter_between_scalar(uint16_t *between, const uint16_t *near, const uint16_t *far, size_t count) {
    for (size_t i = 0; i < count; i++) between[i] = (uint16_t)nearer(near[i], far[i]);
}

void cfilter_between(uint16_t *between, const uint16_t *near, const uint16_t *far, size_t count) {
    size_t i = 0;
#if HAS_LANES
    for (; i + 8 <= count; i += 8) {
        words one = load_words(near + i);
        store_words(between + i, average(one, average(one, load_words(far + i))));
    }
#endif
    cfilter_between_scalar(between + i, near + i, far + i, count - i);
}

static uint8_t modeled(unsigned luma, unsigned gain, unsigned offset) {
    unsigned sum = ((luma * gain >> 8) + offset + 32) >> 6;
    return (uint8_t)(sum > 255 ? 255 : sum);
}

void cfilter_apply_model_scalar(uint8_t *luma, size_t width, const uint16_t *gains, const uint16_t *offsets) {
    for (size_t i = 0; i < width; i++) {
        const uint16_t *gain = gains + i / 2, *offset = offsets + i / 2;
        ptrdiff_t side = i % 2 == 0 ? -1 : 1;
        luma[i] = modeled(luma[i], nearer(gain[0], gain[side]), nearer(offset[0], offset[side]));
    }
}

#if HAS_LANES
// Makes sixteen samples of eight.
LANE void widen(words *low, words *high, const uint16_t *from) {
    words middle = load_words(from);
    words left = average(middle, average(middle, load_words(from - 1)));
    words right = average(middle, average(middle, load_words(from + 1)));
    *low = low_zip(left, right);
    *high = high_zip(left, right);
}
#endif

void cfilter_apply_model(uint8_t *luma, size_t width, const uint16_t *gains, const uint16_t *offsets) {
    size_t i = 0;
#if HAS_LANES
    words half = all_words(32);
    for (; i + 16 <= width; i += 16) {
        bytes given = load_bytes(luma + i);
        words gain[2], offset[2];
        widen(&gain[0], &gain[1], gains + i / 2);
        widen(&offset[0], &offset[1], offsets + i / 2);
        words low = add(low_scaled(given, gain[0]), add(offset[0], half));
        words high = add(high_scaled(given, gain[1]), add(offset[1], half));
        store_bytes(luma + i, narrowed(shifted_right(low, 6), shifted_right(high, 6)));
    }
#endif
    cfilter_apply_model_scalar(luma + i, width - i, gains + i / 2, offsets + i / 2);
}
