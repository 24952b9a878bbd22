// libyuv converts RGB only to BT.601. Both matrices are linear, so luma and chroma can be converted from one to the other
// without going through RGB, and the decoded frame is the same.
#include "CLibYUV.h"

// Chroma samples processed at once.
#define CHUNK 128
// The number of fractional bits of the factors below.
#define SHIFT 9

// Sixteen bits suffice, so twice as many samples fit into a register.
static inline int16_t rounded(int16_t value) { return (int16_t)(value + (1 << (SHIFT - 1))) >> SHIFT; }

static inline uint8_t sample(int16_t value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }

static void add(uint8_t *restrict luma, const int16_t *restrict delta, int count) {
    for (int i = 0; i < count; i++) luma[i] = sample((int16_t)(luma[i] + delta[i]));
}

// The factors follow from the weights of red and blue in luma (ITU-T H.273): 0.299 and 0.114, 0.2126 and 0.0722.
static void convert_chroma(uint8_t *restrict u, uint8_t *restrict v, int16_t *restrict delta, int count) {
    for (int i = 0; i < count; i++) {
        int16_t blue = u[i] - 128, red = v[i] - 128;
        delta[2 * i] = delta[2 * i + 1] = rounded((int16_t)(-59 * blue - 106 * red));
        u[i] = sample((int16_t)(u[i] + rounded((int16_t)(10 * blue + 59 * red))));
        v[i] = sample((int16_t)(v[i] + rounded((int16_t)(38 * blue + 13 * red))));
    }
}

void clibyuv_bt601_to_bt709(
    uint8_t *y, int y_stride, uint8_t *u, int u_stride, uint8_t *v, int v_stride, int width, int height) {
    int16_t delta[2 * CHUNK];
    for (int row = 0; row < height; row += 2) {
        uint8_t *upper = y + (ptrdiff_t)row * y_stride;
        ptrdiff_t half = row / 2;
        for (int left = 0; left < width; left += 2 * CHUNK) {
            int count = width - left < 2 * CHUNK ? width - left : 2 * CHUNK;
            convert_chroma(u + half * u_stride + left / 2, v + half * v_stride + left / 2, delta, (count + 1) / 2);
            add(upper + left, delta, count);
            if (row + 1 < height) add(upper + y_stride + left, delta, count);
        }
    }
}
