// Applies a color table to Y'CbCr. The table is evaluated once for each node of a lattice, including matrix, range and
// strength. Frames are interpolated between the nodes and never converted to RGB.
#include "CFilterKernels.h"
#include "lanes.h"

enum {
    SIDE = CFILTER_LATTICE_SIDE,
    // A column has the nodes of one U and one V: first the luma, then both chroma values, for each luma.
    COLUMN = 3 * SIDE,
    // Distance to the next column of V and of U.
    BY_V = COLUMN,
    BY_U = SIDE * COLUMN,
    // How many numbers of a column are blended at once.
    WINDOW = 8,
    LAST_WINDOW = SIDE - WINDOW,
};

_Static_assert(CFILTER_LATTICE_COUNT == COLUMN * SIDE * SIDE + WINDOW, "the last window of chroma can be read");

// In 1/16, limited so that results round to 0 or 255 at most. Interpolation then needs no clamping.
static int16_t node(float value) {
    float scaled = value * 16;
    if (!(scaled > -8)) return -8;
    return (int16_t)(scaled < 4087 ? (int)(scaled + 8.5f) - 8 : 4087);
}

static float limited(float x, float least, float most) { return !(x > least) ? least : x < most ? x : most; }

typedef struct {
    float channel[3];
} color;

// Interpolates between the four corners of a tetrahedron in the cell. Its path runs from the lowest corner to the highest,
// along the axis with the largest fraction first (J. M. Kasson, S. I. Nin, W. Plouffe, J. L. Hafner: Performing color space
// conversions with three-dimensional linear interpolation, 1995).
static color interpolated(const cfilter_cube *cube, color at) {
    size_t step[3] = {3, 3 * cube->points, 3 * cube->points * cube->points}, start = 0;
    float part[3];
    for (int c = 0; c < 3; c++) {
        float place = (at.channel[c] - cube->least[c]) / (cube->most[c] - cube->least[c]) * (float)(cube->points - 1);
        place = limited(place, 0, (float)(cube->points - 1));
        size_t cell = (size_t)place;
        if (cell > cube->points - 2) cell = cube->points - 2;
        part[c] = place - (float)cell;
        start += cell * step[c];
    }
    int order[3] = {0, 1, 2};
    for (int pass = 0; pass < 3; pass++) {
        int first = pass == 1 ? 1 : 0;
        if (part[order[first]] >= part[order[first + 1]]) continue;
        int swapped = order[first];
        order[first] = order[first + 1];
        order[first + 1] = swapped;
    }
    const float *corner = cube->samples + start;
    color sum = {{corner[0], corner[1], corner[2]}};
    for (int edge = 0; edge < 3; edge++) {
        const float *next = corner + step[order[edge]];
        for (int c = 0; c < 3; c++) sum.channel[c] += part[order[edge]] * (next[c] - corner[c]);
        corner = next;
    }
    for (int c = 0; c < 3; c++) sum.channel[c] = limited(sum.channel[c], 0, 1);
    return sum;
}

// At some nodes, red, green or blue is below 0 or above 1. Neighboring colors are interpolated with such a node, so the table
// continues beyond its edge as its own mirror image, which keeps the curve smooth there.
static color looked_up(const cfilter_cube *cube, color at) {
    color edge, mirrored;
    int is_outside = 0;
    for (int c = 0; c < 3; c++) {
        edge.channel[c] = limited(at.channel[c], 0, 1);
        mirrored.channel[c] = limited(2 * edge.channel[c] - at.channel[c], 0, 1);
        is_outside |= edge.channel[c] != at.channel[c];
    }
    color result = interpolated(cube, edge);
    if (!is_outside) return result;
    color inside = interpolated(cube, mirrored);
    for (int c = 0; c < 3; c++) {
        float rest = at.channel[c] - (2 * edge.channel[c] - mirrored.channel[c]);
        result.channel[c] += result.channel[c] - inside.channel[c] + rest;
    }
    return result;
}

typedef struct {
    float y, u, v;
} sample;

static sample node_sample(const cfilter_cube *cube, cfilter_matrix matrix, float strength, sample at) {
    float green_share = 1 - matrix.red - matrix.blue;
    float by_blue = 2 * (1 - matrix.blue), by_red = 2 * (1 - matrix.red);
    float luma = (at.y - matrix.black) / matrix.luma_range;
    float red = luma + by_red * (at.v - 128) / matrix.chroma_range;
    float blue = luma + by_blue * (at.u - 128) / matrix.chroma_range;
    color given = {{red, (luma - matrix.red * red - matrix.blue * blue) / green_share, blue}};
    color look = looked_up(cube, given);
    for (int c = 0; c < 3; c++) look.channel[c] = given.channel[c] + strength * (look.channel[c] - given.channel[c]);
    float y = matrix.red * look.channel[0] + green_share * look.channel[1] + matrix.blue * look.channel[2];
    sample result = {
        matrix.black + matrix.luma_range * y, 128 + matrix.chroma_range * (look.channel[2] - y) / by_blue,
        128 + matrix.chroma_range * (look.channel[0] - y) / by_red};
    return result;
}

void cfilter_make_lattice(int16_t *lattice, const cfilter_cube *cube, cfilter_matrix matrix, float strength) {
    for (int u = 0; u < SIDE; u++) {
        for (int v = 0; v < SIDE; v++) {
            int16_t *luma = lattice + u * BY_U + v * BY_V, *chroma = luma + SIDE;
            for (int y = 0; y < SIDE; y++) {
                sample at = {(float)(8 * y), (float)(8 * u), (float)(8 * v)};
                sample made = node_sample(cube, matrix, strength, at);
                luma[y] = node(made.y);
                chroma[2 * y] = node(made.u);
                chroma[2 * y + 1] = node(made.v);
            }
        }
    }
    // The last chroma window reads these but does not use them.
    for (int i = CFILTER_LATTICE_COUNT - WINDOW; i < CFILTER_LATTICE_COUNT; i++) lattice[i] = 0;
}

// Where chroma lies between four columns, in eighths of the way to the next column.
typedef struct {
    int u, v;
} parts;
// Blends eight numbers of each of four columns into eight. `nodes` points into the first column.
typedef void blending(int16_t window[WINDOW], const int16_t *nodes, parts part);

// C leaves shifting negative numbers to the implementation. The compilers for both targets keep the sign, as the lanes do.
static int between(int first, int second, int part) { return first + (((second - first) * part + 4) >> 3); }

LANE void blend_scalar(int16_t window[WINDOW], const int16_t *nodes, parts part) {
    for (int i = 0; i < WINDOW; i++) {
        const int16_t *first = nodes + i, *second = first + BY_U;
        window[i] = (int16_t)between(
            between(first[0], first[BY_V], part.v), between(second[0], second[BY_V], part.v), part.u);
    }
}

#if HAS_LANES
LANE words words_between(words first, words second, words part) {
    return add(first, divided(add(times(subtract(second, first), part), all_words(4)), 3));
}

LANE words load_nodes(const int16_t *nodes) { return load_words((const uint16_t *)nodes); }

LANE void blend_lanes(int16_t window[WINDOW], const int16_t *nodes, parts part) {
    words u = all_words((uint16_t)part.u), v = all_words((uint16_t)part.v);
    words first = words_between(load_nodes(nodes), load_nodes(nodes + BY_V), v);
    words second = words_between(load_nodes(nodes + BY_U), load_nodes(nodes + BY_U + BY_V), v);
    store_words((uint16_t *)window, words_between(first, second, u));
}
#endif

// Blended luma nodes, starting at `start`.
typedef struct {
    int16_t nodes[WINDOW];
    int start;
} luma_window;

LANE uint8_t look_up_luma(luma_window *window, int luma, const int16_t *column, parts part, blending *blend) {
    int place = (luma >> 3) - window->start;
    // A pixel far from the others in its block, at an edge.
    if (__builtin_expect((unsigned)place > WINDOW - 2, 0)) {
        window->start = luma >> 3 > LAST_WINDOW ? LAST_WINDOW : luma >> 3;
        place = (luma >> 3) - window->start;
        blend(window->nodes, column + window->start, part);
    }
    int low = window->nodes[place], high = window->nodes[place + 1];
    return (uint8_t)((8 * low + (high - low) * (luma & 7) + 64) >> 7);
}

// One block of four pixels with its chroma. Reads everything before it writes anything, because two pixels may be the same one.
LANE void look_up_block(
    uint8_t *upper, uint8_t *lower, size_t next, uint8_t *u, uint8_t *v, const int16_t *lattice, blending *blend) {
    int first = upper[0], second = upper[next], third = lower[0], fourth = lower[next];
    int mean = (first + second + third + fourth + 2) >> 2;
    const int16_t *column = lattice + (*u >> 3) * BY_U + (*v >> 3) * BY_V;
    parts part = {*u & 7, *v & 7};
    // Centered around their mean.
    int start = (mean >> 3) - (WINDOW / 2 - 1);
    luma_window window = {.start = start < 0 ? 0 : start > LAST_WINDOW ? LAST_WINDOW : start};
    blend(window.nodes, column + window.start, part);
    upper[0] = look_up_luma(&window, first, column, part, blend);
    upper[next] = look_up_luma(&window, second, column, part, blend);
    lower[0] = look_up_luma(&window, third, column, part, blend);
    lower[next] = look_up_luma(&window, fourth, column, part, blend);
    int16_t nodes[WINDOW];
    blend(nodes, column + SIDE + 2 * (mean >> 3), part);
    *u = (uint8_t)((8 * nodes[0] + (nodes[2] - nodes[0]) * (mean & 7) + 64) >> 7);
    *v = (uint8_t)((8 * nodes[1] + (nodes[3] - nodes[1]) * (mean & 7) + 64) >> 7);
}

LANE void look_up(
    uint8_t *upper, uint8_t *lower, size_t width, uint8_t *u, uint8_t *v, size_t step, const int16_t *lattice,
    blending *blend) {
    for (size_t column = 0; column + 1 < width; column += 2, u += step, v += step) {
        look_up_block(upper + column, lower + column, 1, u, v, lattice, blend);
    }
    if (width % 2 == 1) look_up_block(upper + width - 1, lower + width - 1, 0, u, v, lattice, blend);
}

void cfilter_look_up_scalar(
    uint8_t *upper, uint8_t *lower, size_t width, uint8_t *u, uint8_t *v, size_t step, const int16_t *lattice) {
    look_up(upper, lower, width, u, v, step, lattice, blend_scalar);
}

void cfilter_look_up(
    uint8_t *upper, uint8_t *lower, size_t width, uint8_t *u, uint8_t *v, size_t step, const int16_t *lattice) {
#if HAS_LANES
    look_up(upper, lower, width, u, v, step, lattice, blend_lanes);
#else
    look_up(upper, lower, width, u, v, step, lattice, blend_scalar);
#endif
}
