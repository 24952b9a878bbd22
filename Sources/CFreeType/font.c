#include "CFreeType.h"

// DejaVu Sans, cut down to Latin, Greek and Cyrillic by scripts/build-root.d/70-font.
__asm__(
    ".section .rodata.cfreetype_font, \"a\"\n"
    ".balign 16\n"
    "cfreetype_font_start:\n"
    ".incbin \"/usr/share/tallycam/font.ttf\"\n"
    "cfreetype_font_end:\n"
    ".previous\n");

// Local to this object, so that no address table is needed.
extern const uint8_t cfreetype_font_start[] __attribute__((visibility("hidden")));
extern const uint8_t cfreetype_font_end[] __attribute__((visibility("hidden")));

const uint8_t *cfreetype_builtin_font(size_t *count) {
    *count = (size_t)(cfreetype_font_end - cfreetype_font_start);
    return cfreetype_font_start;
}
