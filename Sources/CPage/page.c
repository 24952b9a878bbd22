#include "CPage.h"

// The assembler finds the files by the header search path. A compiler that looks for a file also compiles anew when it has
// changed, which the assembler's directive alone would not do.
#define IS_THERE(name) __has_include(name)

#define FILES \
    FILE(index_html, "index.html") \
    FILE(page_css, "page.css")

#if !(IS_THERE("index.html") && IS_THERE("page.css"))
#error "a file of the page is missing"
#endif

#define FILE(symbol, name) \
    __asm__( \
        ".section .rodata.cpage, \"a\"\n" \
        "cpage_" #symbol "_start:\n" \
        ".incbin \"" name "\"\n" \
        "cpage_" #symbol "_end:\n" \
        ".previous\n"); \
    extern const uint8_t cpage_##symbol##_start[] __attribute__((visibility("hidden"))); \
    extern const uint8_t cpage_##symbol##_end[] __attribute__((visibility("hidden")));
FILES
#undef FILE

const cpage_file *cpage_file_at(size_t index) {
    static cpage_file files[] = {
#define FILE(symbol, name) {name, cpage_##symbol##_start, 0},
        FILES
#undef FILE
    };
    static const uint8_t *const ends[] = {
#define FILE(symbol, name) cpage_##symbol##_end,
        FILES
#undef FILE
    };
    if (index >= sizeof files / sizeof *files) return 0;
    files[index].count = (size_t)(ends[index] - files[index].bytes);
    return &files[index];
}
