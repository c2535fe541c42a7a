/* `.incbin` is the one way to embed 1.8 MB that gcc and clang both know. It looks for
 * the path below the folder the compiler runs in and below every -I folder. */
#include "viz/fontdata.h"

#define EMBED(name, path)                                                              \
    __asm__(".pushsection .rodata, \"a\"\n"                                            \
            ".balign 16\n"                                                             \
            ".globl " #name ", " #name "_end\n" #name ":\n"                            \
            ".incbin \"" path "\"\n" #name "_end:\n"                                   \
            ".byte 0\n"                                                                \
            ".popsection\n")

EMBED(viz_font_sans, "viz/fonts/DejaVuSans.ttf");
EMBED(viz_font_bold, "viz/fonts/DejaVuSans-Bold.ttf");
EMBED(viz_font_mono, "viz/fonts/DejaVuSansMono.ttf");
