// The parts of FreeType for outline fonts: TrueType and OpenType in memory, anti-aliased, with an optional stroke.
#ifndef CFREETYPE_H
#define CFREETYPE_H
#include <stddef.h>
#include <stdint.h>

typedef struct cfreetype_font cfreetype_font;

// Coverage, from 0 to 255, of the pixels that a glyph touches.
typedef struct {
    const uint8_t *samples;
    int width, height, stride;
    // From the pen to the left edge, rightwards; from the baseline to the top edge, upwards.
    int left, top;
} cfreetype_bitmap;

// Opens the first font of a file, whose bytes must stay in place until the font is closed. Returns NULL if it is not a scalable
// font; `status` is then FreeType's error number, or 0 for lack of memory.
cfreetype_font *cfreetype_open(const uint8_t *bytes, size_t count, int *status);
void cfreetype_close(cfreetype_font *font);

// Pixels between baselines, 1 to 2048. Returns 0 if the font accepts it; `ascent` is then the height above the baseline.
int cfreetype_set_line_height(cfreetype_font *font, double pixels, double *ascent);

// The glyph of a character, or its replacement box. Bitmaps belong to the font and stay valid until its next call; an empty one
// has no samples. `border` is the glyph with a stroke of that many pixels; it is empty for 0. `advance` is in pixels.
int cfreetype_draw(
    cfreetype_font *font, uint32_t character, double stroke, cfreetype_bitmap *fill, cfreetype_bitmap *border,
    double *advance);

// The font built into the program.
const uint8_t *cfreetype_builtin_font(size_t *count);

#endif
