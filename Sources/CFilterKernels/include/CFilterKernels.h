// What filters do to rows of samples, with NEON or SSE2 where the target has them, and for mirroring with AVX2 where the processor
// has it. Each function has a scalar twin of the same name with `_scalar`, which gives the same bytes; the tests compare them. What
// is not done for each frame has no twin: plain C. Rows may have any length and alignment; nothing outside of them is read or
// written, but where a comment says so.
#ifndef CFILTERKERNELS_H
#define CFILTERKERNELS_H
#include <stddef.h>
#include <stdint.h>

// samples = source + samples * rest / 255, rounded: `source` is multiplied by its alpha, and `rest` is what that leaves of 255.
void cfilter_blend(uint8_t *samples, const uint8_t *source, const uint8_t *rest, size_t count);
void cfilter_blend_scalar(uint8_t *samples, const uint8_t *source, const uint8_t *rest, size_t count);

// What `cfilter_blend` takes, of rows of pixels: red, green, blue and alpha of each, colours multiplied by alpha. A sample is the sum
// of the four times `by`, and its alpha that times `opacity`, all in 1/65536.
typedef struct {
    int32_t by[4];
    int32_t opacity;
} cfilter_component;
void cfilter_overlay_luma(
    uint8_t *samples, uint8_t *rest, const uint8_t *pixels, size_t count, cfilter_component luma);
// One sample of 2x2 pixels; of an odd width, the last column counts twice. Samples are `step` apart.
void cfilter_overlay_chroma(
    uint8_t *samples, uint8_t *rest, size_t step, const uint8_t *upper, const uint8_t *lower, size_t width,
    cfilter_component chroma);

// Lays a colour (red, green, blue and alpha, not multiplied) over such pixels, each as far as it is covered.
void cfilter_lay_color(uint8_t *pixels, const uint8_t *coverage, size_t count, const uint8_t color[4]);

// Means of 2x2 pixels, (width + 1) / 2 of them; of an odd width, the last column counts twice.
void cfilter_halve_pixels(uint8_t *half, const uint8_t *upper, const uint8_t *lower, size_t width);
// Between two rows of `count` bytes: `part` of 256 is the lower one's.
void cfilter_between_rows(
    uint8_t *between, const uint8_t *upper, const uint8_t *lower, size_t count, unsigned part);
// `count` pixels between those of a row of `width`, of which there are 1 to 65536.
void cfilter_scale_row(uint8_t *scaled, size_t count, const uint8_t *row, size_t width);
// Of a scaled pixel's place on one side, how far behind the first pixel its middle lies, in 1/65536 of a pixel.
uint32_t cfilter_scaled_place(size_t place, size_t count, size_t width);

// The first sample becomes the last one. Pairs (U and V of NV12) stay in their order.
void cfilter_mirror(uint8_t *samples, size_t count);
void cfilter_mirror_scalar(uint8_t *samples, size_t count);
void cfilter_mirror_pairs(uint8_t *samples, size_t pair_count);
void cfilter_mirror_pairs_scalar(uint8_t *samples, size_t pair_count);

// A curve of lightness: with y = luma - black within 0 to range, luma += y * (range - y) * factor / 65536.
void cfilter_whiten(uint8_t *luma, size_t count, uint8_t black, uint8_t range, uint16_t factor);
void cfilter_whiten_scalar(uint8_t *luma, size_t count, uint8_t black, uint8_t range, uint16_t factor);

// Adds to each chroma sample the mean of its four luma samples above black, times a factor of 1/256, from -127 to 127. `width` is
// that of the luma rows; of an odd one, the last chroma sample has luma twice.
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

// The fast guided filter, in the order in which a row passes its steps. All work on frames of half the size but the last one.

// Means of 2x2 luma samples, (width + 1) / 2 of them; of an odd width, the last column counts twice.
void cfilter_halve(uint8_t *half, const uint8_t *upper, const uint8_t *lower, size_t width);
void cfilter_halve_scalar(uint8_t *half, const uint8_t *upper, const uint8_t *lower, size_t width);

// How far each chroma sample has the colour of skin, from 0 to CFILTER_WHOLE_SKIN. Returns 0 when none has it at all. `to_601` brings
// chroma (less 128) to BT.601 of limited range, in 1/64: Cb of Cb, Cb of Cr, Cr of Cb, Cr of Cr.
#define CFILTER_WHOLE_SKIN 8
typedef struct {
    int16_t to_601[4];
} cfilter_skin;
int cfilter_skin_of_pairs(uint8_t *weights, const uint8_t *pairs, size_t count, cfilter_skin skin);
int cfilter_skin_of_pairs_scalar(uint8_t *weights, const uint8_t *pairs, size_t count, cfilter_skin skin);
int cfilter_skin_of_planes(uint8_t *weights, const uint8_t *u, const uint8_t *v, size_t count, cfilter_skin skin);
int cfilter_skin_of_planes_scalar(
    uint8_t *weights, const uint8_t *u, const uint8_t *v, size_t count, cfilter_skin skin);

// Moves sums over some rows on by a row: of samples and of their squares.
void cfilter_move_sums(
    uint16_t *sums, int32_t *squares, const uint8_t *entering, const uint8_t *leaving, size_t count);
void cfilter_move_sums_scalar(
    uint16_t *sums, int32_t *squares, const uint8_t *entering, const uint8_t *leaving, size_t count);
// The same of 16 bits.
void cfilter_move_wide_sums(uint16_t *sums, const uint16_t *entering, const uint16_t *leaving, size_t count);
void cfilter_move_wide_sums_scalar(uint16_t *sums, const uint16_t *entering, const uint16_t *leaving, size_t count);

// The local linear model: luma = gain * luma + offset, in 1/1024 and 1/4; gain 1 and offset 0 where there is no skin. `sums` and `squares` point at the first sample's and can
// be read for `radius` more before it and behind the last one's.
#define CFILTER_WHOLE_GAIN 1024
typedef struct {
    // 1 to 3.
    size_t radius;
    // Variance below which texture goes, and that times strength / CFILTER_WHOLE_SKIN; both times the square of the number of
    // samples in a window.
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

// Three quarters of one row and a quarter of another.
void cfilter_between(uint16_t *between, const uint16_t *near, const uint16_t *far, size_t count);
void cfilter_between_scalar(uint16_t *between, const uint16_t *near, const uint16_t *far, size_t count);

// luma = gain * luma + offset, with gains in 1/16384 and offsets in 1/64, both of half the width and brought to the whole one
// between neighbours. They can be read for one more before the first and behind the last.
void cfilter_apply_model(uint8_t *luma, size_t width, const uint16_t *gains, const uint16_t *offsets);
void cfilter_apply_model_scalar(uint8_t *luma, size_t width, const uint16_t *gains, const uint16_t *offsets);

// A table of colours as .cube files have it: `points` on a side, from 2; red, green and blue of each, red's place moving fastest.
// `least` and `most` are the colours of its first and last point, with least below most.
typedef struct {
    const float *samples;
    size_t points;
    float least[3], most[3];
} cfilter_cube;
// The shares of red and blue in luma; luma of black and its range, and the range of chroma around 128.
typedef struct {
    float red, blue;
    float black, luma_range, chroma_range;
} cfilter_matrix;

// What a table makes of each luma and chroma, mixed with what is there by `strength` from 0 to 1: nodes for 33
// values of each, 8 steps apart. CFILTER_LATTICE_COUNT numbers of 1/16, from -8 to 4087; 216 KB.
#define CFILTER_LATTICE_SIDE 33
#define CFILTER_LATTICE_COUNT 107819
void cfilter_make_lattice(int16_t *lattice, const cfilter_cube *cube, cfilter_matrix matrix, float strength);

// Two rows of luma and the row of chroma that belongs to them, whose samples are `step` apart; chroma by the mean luma of its four
// pixels. The last row of an odd height is given twice; of an odd width, the last column counts twice.
void cfilter_look_up(
    uint8_t *upper, uint8_t *lower, size_t width, uint8_t *u, uint8_t *v, size_t step, const int16_t *lattice);
void cfilter_look_up_scalar(
    uint8_t *upper, uint8_t *lower, size_t width, uint8_t *u, uint8_t *v, size_t step, const int16_t *lattice);

#endif
