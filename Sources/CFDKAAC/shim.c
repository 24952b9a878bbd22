// Gives this header-only target a source file.
