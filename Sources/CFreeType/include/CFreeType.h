// FreeType with what outlines need: TrueType and OpenType fonts in memory, anti-aliased, with a stroke around them.
#ifndef CFREETYPE_H
#define CFREETYPE_H
#include <stddef.h>
#include <stdint.h>

typedef struct cfreetype_font cfreetype_font;

// Coverage, 0 to 255, of the pixels that a glyph covers.
typedef struct {
    const uint8_t *samples;
    int width, height, stride;
    // From the pen to the left edge, to the right; and from the baseline to the upper edge, upwards.
    int left, top;
} cfreetype_bitmap;

// The first font of a file, whose bytes have to stay where they are until it is closed. NULL when it is none that can be drawn in
// any size; `status` then is FreeType's number, or 0 for lack of memory.
cfreetype_font *cfreetype_open(const uint8_t *bytes, size_t count, int *status);
void cfreetype_close(cfreetype_font *font);

// Pixels from one baseline to the next, 1 to 2048. 0 when the font takes it; `ascent` then is the part above the baseline.
int cfreetype_set_line_height(cfreetype_font *font, double pixels, double *ascent);

// The glyph of a character, its box for a missing one. Bitmaps are the font's and valid until its next call; an empty one has no
// samples. `border` is the glyph with a stroke of that many pixels around it; it is empty for 0. `advance` is in pixels.
int cfreetype_draw(
    cfreetype_font *font, uint32_t character, double stroke, cfreetype_bitmap *fill, cfreetype_bitmap *border,
    double *advance);

// The font that is part of the program.
const uint8_t *cfreetype_builtin_font(size_t *count);

#endif
