// Filter kernels for rows of samples. They use NEON or SSE2 if the target has them, and AVX2 for mirroring if the processor has
// it. Each function has a scalar twin, with the suffix `_scalar`, that gives the same bytes; the tests compare the two. Work
// that is not done per frame is plain C without a twin. Rows may have any length and alignment. Nothing outside of them is read
// or written unless a comment says so.
#ifndef CFILTERKERNELS_H
#define CFILTERKERNELS_H
#include <stddef.h>
#include <stdint.h>

// samples = source + samples * rest / 255, rounded. `source` is premultiplied by its alpha; `rest` is 255 minus alpha.
void cfilter_blend(uint8_t *samples, const uint8_t *source, const uint8_t *rest, size_t count);
void cfilter_blend_scalar(uint8_t *samples, const uint8_t *source, const uint8_t *rest, size_t count);

// Makes the input of `cfilter_blend` from rows of pixels: red, green, blue and alpha, with premultiplied colors. A sample is
// the sum of the four times `by`; its alpha is that of the pixel times `opacity`. All factors in 1/65536.
typedef struct {
    int32_t by[4];
    int32_t opacity;
} cfilter_component;
void cfilter_overlay_luma(
    uint8_t *samples, uint8_t *rest, const uint8_t *pixels, size_t count, cfilter_component luma);
// One sample for 2x2 pixels. If the width is odd, the last column counts twice. Samples are `step` apart.
void cfilter_overlay_chroma(
    uint8_t *samples, uint8_t *rest, size_t step, const uint8_t *upper, const uint8_t *lower, size_t width,
    cfilter_component chroma);

// Blends a color (red, green, blue and alpha, not premultiplied) over such pixels, weighted by their coverage.
void cfilter_lay_color(uint8_t *pixels, const uint8_t *coverage, size_t count, const uint8_t color[4]);

// Means of 2x2 pixels, (width + 1) / 2 of them. If the width is odd, the last column counts twice.
void cfilter_halve_pixels(uint8_t *half, const uint8_t *upper, const uint8_t *lower, size_t width);
// Interpolates between two rows of `count` bytes; `part` of 256 is the lower row's weight.
void cfilter_between_rows(
    uint8_t *between, const uint8_t *upper, const uint8_t *lower, size_t count, unsigned part);
// Scales a row of `width` pixels (1 to 65536) to `count` pixels.
void cfilter_scale_row(uint8_t *scaled, size_t count, const uint8_t *row, size_t width);
// Position of a scaled pixel's center along one side, relative to the first pixel's, in 1/65536 of a pixel.
uint32_t cfilter_scaled_place(size_t place, size_t count, size_t width);

// Reverses the samples. Pairs (U and V of NV12) keep their inner order.
void cfilter_mirror(uint8_t *samples, size_t count);
void cfilter_mirror_scalar(uint8_t *samples, size_t count);
void cfilter_mirror_pairs(uint8_t *samples, size_t pair_count);
void cfilter_mirror_pairs_scalar(uint8_t *samples, size_t pair_count);

// A brightness curve: with y = luma - black within 0 to range, luma += y * (range - y) * factor / 65536.
void cfilter_whiten(uint8_t *luma, size_t count, uint8_t black, uint8_t range, uint16_t factor);
void cfilter_whiten_scalar(uint8_t *luma, size_t count, uint8_t black, uint8_t range, uint16_t factor);

// Adds to each chroma sample the mean of its four luma samples above black, times a factor of 1/256, from -127 to 127. `width`
// is that of the luma rows. If it is odd, the last chroma sample counts the last column twice.
typedef struct {
    uint8_t black;
    int16_t u, v;
} cfilter_tint;
void cfilter_tint_pairs(
    uint8_t *pairs, const uint8_t *upper, const uint8_t *lower, size_t width, cfilter_tint tint);
void cfilter_tint_pairs_scalar(
    uint8_t *pairs, const uint8_t *upper, const uint8_t *lower, size_t width, cfilter_tint tint);
void cfilter_tint_planes(
    uint8_t *u, uint8_t *v, const uint8_t *upper, const uint8_t *lower, size_t width, cfilter_tint tint);
void cfilter_tint_planes_scalar(
    uint8_t *u, uint8_t *v, const uint8_t *upper, const uint8_t *lower, size_t width, cfilter_tint tint);

// The steps of the fast guided filter, in the order that a row passes them. All but the last work at half size.

// Means of 2x2 luma samples, (width + 1) / 2 of them. If the width is odd, the last column counts twice.
void cfilter_halve(uint8_t *half, const uint8_t *upper, const uint8_t *lower, size_t width);
void cfilter_halve_scalar(uint8_t *half, const uint8_t *upper, const uint8_t *lower, size_t width);

// The weight of skin for each chroma sample, from 0 to CFILTER_WHOLE_SKIN. Returns 0 if none has skin color. `to_601` converts
// chroma (minus 128) to BT.601 limited range, in 1/64: Cb from Cb, Cb from Cr, Cr from Cb, Cr from Cr.
#define CFILTER_WHOLE_SKIN 8
typedef struct {
    int16_t to_601[4];
} cfilter_skin;
int cfilter_skin_of_pairs(uint8_t *weights, const uint8_t *pairs, size_t count, cfilter_skin skin);
int cfilter_skin_of_pairs_scalar(uint8_t *weights, const uint8_t *pairs, size_t count, cfilter_skin skin);
int cfilter_skin_of_planes(uint8_t *weights, const uint8_t *u, const uint8_t *v, size_t count, cfilter_skin skin);
int cfilter_skin_of_planes_scalar(
    uint8_t *weights, const uint8_t *u, const uint8_t *v, size_t count, cfilter_skin skin);

// Moves sums over several rows down by one row: sums of samples and of their squares.
void cfilter_move_sums(
    uint16_t *sums, int32_t *squares, const uint8_t *entering, const uint8_t *leaving, size_t count);
void cfilter_move_sums_scalar(
    uint16_t *sums, int32_t *squares, const uint8_t *entering, const uint8_t *leaving, size_t count);
// The same for 16-bit samples.
void cfilter_move_wide_sums(uint16_t *sums, const uint16_t *entering, const uint16_t *leaving, size_t count);
void cfilter_move_wide_sums_scalar(uint16_t *sums, const uint16_t *entering, const uint16_t *leaving, size_t count);

// The local linear model: luma = gain * luma + offset, in 1/1024 and 1/4. Without skin, gain is 1 and offset 0. `sums` and
// `squares` point to the first sample's values; `radius` more must be readable before it and after the last.
#define CFILTER_WHOLE_GAIN 1024
typedef struct {
    // From 1 to 3.
    size_t radius;
    // The variance below which texture is smoothed, and that times strength / CFILTER_WHOLE_SKIN. Both are multiplied by the
    // square of the number of samples in a window.
    float threshold, strength;
} cfilter_window;
void cfilter_model(
    uint16_t *gains, uint16_t *offsets, const uint16_t *sums, const int32_t *squares, const uint8_t *weights,
    size_t count, cfilter_window window);
void cfilter_model_scalar(
    uint16_t *gains, uint16_t *offsets, const uint16_t *sums, const int32_t *squares, const uint8_t *weights,
    size_t count, cfilter_window window);

// means = the sum over 2 * radius + 1 columns * factor / 65536. `sums` as above.
void cfilter_means(uint16_t *means, const uint16_t *sums, size_t count, size_t radius, uint16_t factor);
void cfilter_means_scalar(uint16_t *means, const uint16_t *sums, size_t count, size_t radius, uint16_t factor);

// Three quarters of the near row and one quarter of the far row.
void cfilter_between(uint16_t *between, const uint16_t *near, const uint16_t *far, size_t count);
void cfilter_between_scalar(uint16_t *between, const uint16_t *near, const uint16_t *far, size_t count);

// luma = gain * luma + offset, with gains in 1/16384 and offsets in 1/64. Both have half the width and are interpolated to the
// full width. One more must be readable before the first and after the last.
void cfilter_apply_model(uint8_t *luma, size_t width, const uint16_t *gains, const uint16_t *offsets);
void cfilter_apply_model_scalar(uint8_t *luma, size_t width, const uint16_t *gains, const uint16_t *offsets);

// A color table as in .cube files: `points` (at least 2) per side, each with red, green and blue; the index of red moves
// fastest. `least` and `most` are the colors of the first and last point, with least below most.
typedef struct {
    const float *samples;
    size_t points;
    float least[3], most[3];
} cfilter_cube;
// The weights of red and blue in luma; black level and range of luma; the range of chroma around 128.
typedef struct {
    float red, blue;
    float black, luma_range, chroma_range;
} cfilter_matrix;

// Evaluates a table for each luma and chroma and mixes the result with the original by `strength`, from 0 to 1. There are nodes
// for 33 values of each, 8 steps apart: CFILTER_LATTICE_COUNT numbers of 1/16, from -8 to 4087; 216 KB.
#define CFILTER_LATTICE_SIDE 33
#define CFILTER_LATTICE_COUNT 107819
void cfilter_make_lattice(int16_t *lattice, const cfilter_cube *cube, cfilter_matrix matrix, float strength);

// Two rows of luma and their row of chroma, whose samples are `step` apart. Chroma is looked up with the mean luma of its four
// pixels. If the height is odd, pass the last row twice; if the width is odd, the last column counts twice.
void cfilter_look_up(
    uint8_t *upper, uint8_t *lower, size_t width, uint8_t *u, uint8_t *v, size_t step, const int16_t *lattice);
void cfilter_look_up_scalar(
    uint8_t *upper, uint8_t *lower, size_t width, uint8_t *u, uint8_t *v, size_t step, const int16_t *lattice);

#endif
