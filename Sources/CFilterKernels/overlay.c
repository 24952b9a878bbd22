#include "CFilterKernels.h"

static uint8_t clamped(int32_t x) { return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x); }

void cfilter_overlay_luma(
    uint8_t *restrict samples, uint8_t *restrict rest, const uint8_t *restrict pixels, size_t count,
    cfilter_component luma) {
    for (size_t i = 0; i < count; i++) {
        const uint8_t *pixel = pixels + 4 * i;
        int32_t sum = 1 << 15;
        for (int channel = 0; channel < 4; channel++) sum += pixel[channel] * luma.by[channel];
        samples[i] = clamped(sum >> 16);
        rest[i] = clamped(255 - ((pixel[3] * luma.opacity + (1 << 15)) >> 16));
    }
}

void cfilter_overlay_chroma(
    uint8_t *restrict samples, uint8_t *restrict rest, size_t step, const uint8_t *restrict upper,
    const uint8_t *restrict lower, size_t width, cfilter_component chroma) {
    for (size_t column = 0; column < width; column += 2) {
        size_t left = 4 * column, right = column + 1 < width ? left + 4 : left;
        int32_t sum = 1 << 17, alpha = 0;
        for (int channel = 0; channel < 4; channel++) {
            alpha = upper[left + channel] + upper[right + channel] + lower[left + channel] + lower[right + channel];
            sum += alpha * chroma.by[channel];
        }
        *samples = clamped(sum >> 18);
        *rest = clamped(255 - ((alpha * chroma.opacity + (1 << 17)) >> 18));
        samples += step;
        rest += step;
    }
}

// x / 255, rounded, for a product of two bytes. Stays within 16 bits, so that compilers can use more lanes.
static uint16_t part_of_255(uint16_t product) {
    uint16_t sum = (uint16_t)(product + 128);
    return (uint16_t)((uint16_t)(sum + (sum >> 8)) >> 8);
}

void cfilter_lay_color(
    uint8_t *restrict pixels, const uint8_t *restrict coverage, size_t count, const uint8_t color[4]) {
    const uint16_t channels[4] = {color[0], color[1], color[2], 255}, opacity = color[3];
    for (size_t i = 0; i < count; i++) {
        uint16_t alpha = part_of_255((uint16_t)(opacity * coverage[i])), rest = (uint16_t)(255 - alpha);
        for (int channel = 0; channel < 4; channel++) {
            uint16_t above = part_of_255((uint16_t)(channels[channel] * alpha));
            uint16_t sum = (uint16_t)(above + part_of_255((uint16_t)(pixels[4 * i + channel] * rest)));
            pixels[4 * i + channel] = (uint8_t)(sum < 255 ? sum : 255);
        }
    }
}

void cfilter_halve_pixels(
    uint8_t *restrict half, const uint8_t *restrict upper, const uint8_t *restrict lower, size_t width) {
    for (size_t column = 0; column < width; column += 2) {
        size_t left = 4 * column, right = column + 1 < width ? left + 4 : left;
        for (int channel = 0; channel < 4; channel++) {
            int sum = upper[left + channel] + upper[right + channel] + lower[left + channel] + lower[right + channel];
            *half++ = (uint8_t)((sum + 2) >> 2);
        }
    }
}

void cfilter_between_rows(
    uint8_t *restrict between, const uint8_t *restrict upper, const uint8_t *restrict lower, size_t count,
    unsigned part) {
    // The sums stay within 16 bits, so that compilers use twice as many lanes.
    uint16_t of_upper = (uint16_t)(256 - part), of_lower = (uint16_t)part;
    for (size_t i = 0; i < count; i++) {
        uint16_t sum = (uint16_t)((uint16_t)(upper[i] * of_upper) + (uint16_t)(lower[i] * of_lower) + 128);
        between[i] = (uint8_t)(sum >> 8);
    }
}

// `step` is the width of a scaled pixel, in units of 1/2^32.
static uint32_t place_behind_first(size_t place, uint64_t step, size_t width) {
    uint64_t middle = (place * step + step / 2) >> 16, last = (uint64_t)(width - 1) << 16;
    uint64_t behind = middle < 1 << 15 ? 0 : middle - (1 << 15);
    return (uint32_t)(behind < last ? behind : last);
}

static uint64_t step_of(size_t count, size_t width) { return ((uint64_t)width << 32) / count; }

uint32_t cfilter_scaled_place(size_t place, size_t count, size_t width) {
    return place_behind_first(place, step_of(count, width), width);
}

void cfilter_scale_row(uint8_t *restrict scaled, size_t count, const uint8_t *restrict row, size_t width) {
    uint64_t step = step_of(count, width);
    for (size_t i = 0; i < count; i++) {
        uint32_t place = place_behind_first(i, step, width);
        const uint8_t *left = row + 4 * (place >> 16), *right = (place >> 16) + 1 < width ? left + 4 : left;
        unsigned part = place >> 8 & 255;
        for (int channel = 0; channel < 4; channel++) {
            scaled[4 * i + channel] = (uint8_t)((left[channel] * (256 - part) + right[channel] * part + 128) >> 8);
        }
    }
}
