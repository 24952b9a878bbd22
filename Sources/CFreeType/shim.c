#include "CFreeType.h"

#include <stdlib.h>

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_GLYPH_H
#include FT_MODULE_H
#include FT_STROKER_H

// Only the modules that outlines need, so that the linker takes only those; FT_Init_FreeType would pull in everything. Most
// Chinese, Japanese and Korean fonts have CFF outlines.
extern const FT_Module_Class tt_driver_class, cff_driver_class, psaux_module_class, sfnt_module_class;
extern const FT_Module_Class ft_smooth_renderer_class, psnames_module_class;
// Without psnames, sfnt accepts a font that has glyph names but no Unicode table.
static const FT_Module_Class *const modules[] = {
    &psnames_module_class, &tt_driver_class, &cff_driver_class, &psaux_module_class, &sfnt_module_class, &ft_smooth_renderer_class,
};

// Replaces Brotli's decoder for WOFF2, a format for web pages. It would be a third as large as all of FreeType here. Such a
// font is refused as broken data.
int BrotliDecoderDecompress(size_t count, const uint8_t *bytes, size_t *decoded_count, uint8_t *decoded);
int BrotliDecoderDecompress(size_t count, const uint8_t *bytes, size_t *decoded_count, uint8_t *decoded) {
    (void)count, (void)bytes, (void)decoded_count, (void)decoded;
    return 0;
}

// Upper bounds for a font from a file. Real glyphs are not much larger than their line.
enum { LARGEST_BITMAP = 4096 };

struct cfreetype_font {
    struct FT_MemoryRec_ memory;
    FT_Library library;
    FT_Face face;
    FT_Stroker stroker;
    FT_Glyph fill, border;
};

static void *allocate(FT_Memory memory, long size) {
    (void)memory;
    return malloc((size_t)size);
}

static void release(FT_Memory memory, void *block) {
    (void)memory;
    free(block);
}

static void *reallocate(FT_Memory memory, long size, long new_size, void *block) {
    (void)memory, (void)size;
    return realloc(block, (size_t)new_size);
}

static FT_Error start(cfreetype_font *font, const uint8_t *bytes, size_t count) {
    font->memory = (struct FT_MemoryRec_){NULL, allocate, release, reallocate};
    FT_Error error = FT_New_Library(&font->memory, &font->library);
    for (size_t i = 0; !error && i < sizeof modules / sizeof *modules; i++) {
        error = FT_Add_Module(font->library, modules[i]);
    }
    if (!error) error = FT_New_Memory_Face(font->library, bytes, (FT_Long)count, 0, &font->face);
    if (!error && !FT_IS_SCALABLE(font->face)) error = FT_Err_Unknown_File_Format;
    if (!error) error = FT_Stroker_New(font->library, &font->stroker);
    return error;
}

cfreetype_font *cfreetype_open(const uint8_t *bytes, size_t count, int *status) {
    *status = 0;
    cfreetype_font *font = calloc(1, sizeof *font);
    if (font == NULL) return NULL;
    *status = start(font, bytes, count);
    if (*status == 0) return font;
    cfreetype_close(font);
    return NULL;
}

static void forget_glyphs(cfreetype_font *font) {
    FT_Done_Glyph(font->fill);
    FT_Done_Glyph(font->border);
    font->fill = font->border = NULL;
}

void cfreetype_close(cfreetype_font *font) {
    forget_glyphs(font);
    FT_Stroker_Done(font->stroker);
    if (font->face != NULL) FT_Done_Face(font->face);
    if (font->library != NULL) FT_Done_Library(font->library);
    free(font);
}

int cfreetype_set_line_height(cfreetype_font *font, double pixels, double *ascent) {
    FT_Face face = font->face;
    double units = face->height > 0 ? face->height : face->units_per_EM;
    double em = pixels * face->units_per_EM / units;
    if (!(em >= 1 && em <= 4096)) return FT_Err_Invalid_Pixel_Size;
    double above = face->ascender * em / face->units_per_EM;
    *ascent = above < 0 ? 0 : above > pixels ? pixels : above;
    return FT_Set_Char_Size(face, 0, (FT_F26Dot6)(em * 64), 0, 0);
}

// Makes a bitmap of an outline.
static FT_Error render(FT_Glyph *glyph, cfreetype_bitmap *bitmap) {
    FT_BBox box;
    FT_Glyph_Get_CBox(*glyph, FT_GLYPH_BBOX_PIXELS, &box);
    if (box.xMax - box.xMin > LARGEST_BITMAP || box.yMax - box.yMin > LARGEST_BITMAP) return FT_Err_Raster_Overflow;
    FT_Error error = FT_Glyph_To_Bitmap(glyph, FT_RENDER_MODE_NORMAL, NULL, 1);
    if (error) return error;
    FT_BitmapGlyph rendered = (FT_BitmapGlyph)*glyph;
    if (rendered->bitmap.pitch < 0 || rendered->bitmap.buffer == NULL) return 0;
    *bitmap = (cfreetype_bitmap){
        rendered->bitmap.buffer, (int)rendered->bitmap.width, (int)rendered->bitmap.rows, rendered->bitmap.pitch,
        rendered->left, rendered->top,
    };
    return 0;
}

int cfreetype_draw(
    cfreetype_font *font, uint32_t character, double stroke, cfreetype_bitmap *fill, cfreetype_bitmap *border,
    double *advance) {
    forget_glyphs(font);
    *fill = *border = (cfreetype_bitmap){0};
    *advance = 0;
    FT_Error error = FT_Load_Char(font->face, character, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP);
    if (!error) error = FT_Get_Glyph(font->face->glyph, &font->fill);
    if (error) return error;
    *advance = font->face->glyph->advance.x / 64.0;
    if (font->fill->format != FT_GLYPH_FORMAT_OUTLINE) return FT_Err_Invalid_Glyph_Format;
    if (stroke > 0) {
        FT_Stroker_Set(font->stroker, (FT_Fixed)(stroke * 64), FT_STROKER_LINECAP_ROUND, FT_STROKER_LINEJOIN_ROUND, 0);
        font->border = font->fill;
        // 0 selects the outer border, filled. The outline itself must not be destroyed.
        error = FT_Glyph_StrokeBorder(&font->border, font->stroker, 0, 0);
        if (font->border == font->fill) font->border = NULL;
        if (!error) error = render(&font->border, border);
    }
    return error ? error : render(&font->fill, fill);
}
