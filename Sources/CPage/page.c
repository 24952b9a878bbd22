#include "CPage.h"

// The assembler finds the files by the header search path. `.incbin` alone would not make the compiler run again after a file has
// changed; `__has_include` does.
#define FILES \
    FILE(api_js, "api.js") \
    FILE(app_js, "app.js") \
    FILE(browsers_js, "browsers.js") \
    FILE(checkup_js, "checkup.js") \
    FILE(controls_js, "controls.js") \
    FILE(dialogs_js, "dialogs.js") \
    FILE(dom_js, "dom.js") \
    FILE(edge_js, "edge.js") \
    FILE(editor_js, "editor.js") \
    FILE(events_js, "events.js") \
    FILE(faults_js, "faults.js") \
    FILE(file_js, "file.js") \
    FILE(format_js, "format.js") \
    FILE(forms_js, "forms.js") \
    FILE(graph_js, "graph.js") \
    FILE(header_js, "header.js") \
    FILE(history_js, "history.js") \
    FILE(icon_svg, "icon.svg") \
    FILE(index_html, "index.html") \
    FILE(jsontext_js, "jsontext.js") \
    FILE(light_js, "light.js") \
    FILE(live_js, "live.js") \
    FILE(overlays_js, "overlays.js") \
    FILE(page_css, "page.css") \
    FILE(pairing_js, "pairing.js") \
    FILE(picture_js, "picture.js") \
    FILE(player_js, "player.js") \
    FILE(preview_js, "preview.js") \
    FILE(recordings_js, "recordings.js") \
    FILE(retry_js, "retry.js") \
    FILE(rhythm_js, "rhythm.js") \
    FILE(services_js, "services.js") \
    FILE(settings_js, "settings.js") \
    FILE(setup_js, "setup.js") \
    FILE(sound_js, "sound.js") \
    FILE(widgets_js, "widgets.js")

#if !(__has_include("api.js.gz") && \
      __has_include("app.js.gz") && \
      __has_include("browsers.js.gz") && \
      __has_include("checkup.js.gz") && \
      __has_include("controls.js.gz") && \
      __has_include("dialogs.js.gz") && \
      __has_include("dom.js.gz") && \
      __has_include("edge.js.gz") && \
      __has_include("editor.js.gz") && \
      __has_include("events.js.gz") && \
      __has_include("faults.js.gz") && \
      __has_include("file.js.gz") && \
      __has_include("format.js.gz") && \
      __has_include("forms.js.gz") && \
      __has_include("graph.js.gz") && \
      __has_include("header.js.gz") && \
      __has_include("history.js.gz") && \
      __has_include("icon.svg.gz") && \
      __has_include("index.html.gz") && \
      __has_include("jsontext.js.gz") && \
      __has_include("light.js.gz") && \
      __has_include("live.js.gz") && \
      __has_include("overlays.js.gz") && \
      __has_include("page.css.gz") && \
      __has_include("pairing.js.gz") && \
      __has_include("picture.js.gz") && \
      __has_include("player.js.gz") && \
      __has_include("preview.js.gz") && \
      __has_include("recordings.js.gz") && \
      __has_include("retry.js.gz") && \
      __has_include("rhythm.js.gz") && \
      __has_include("services.js.gz") && \
      __has_include("settings.js.gz") && \
      __has_include("setup.js.gz") && \
      __has_include("sound.js.gz") && \
      __has_include("widgets.js.gz"))
#error "a file of the page is missing: run scripts/pack-page"
#endif

#define FILE(symbol, name) \
    __asm__( \
        ".section .rodata.cpage, \"a\"\n" \
        "cpage_" #symbol "_start:\n" \
        ".incbin \"" name ".gz\"\n" \
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
