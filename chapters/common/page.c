#include "chapters/common/page.h"

#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--ground:#fff;--ink:#1b1b1b;--soft:#555;"
    "--line:#ccc;--link:#0059a8}\n"
    "@media(prefers-color-scheme:dark){:root{--ground:#16181b;--ink:#e8e6e3;"
    "--soft:#a9a59f;--line:#3c4045;--link:#7cc0ff}}\n"
    "body{margin:0 auto;padding:1rem;max-width:60rem;background:var(--ground);"
    "color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:break-word}\n"
    "h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.15rem;margin-top:2rem}\n"
    "a{color:var(--link)}code{font-family:ui-monospace,monospace}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;"
    "font-size:.9rem}\n"
    "th,td{padding:.15rem .6rem;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--line)}\n"
    "th{vertical-align:bottom}th:first-child{text-align:left}"
    "tbody th{font-weight:normal}\n"
    "figure{margin:2rem 0}img{display:block;width:100%;height:auto;"
    "border:1px solid var(--line);border-radius:4px;background:#fff}\n"
    "figcaption{margin-top:.5rem}small{color:var(--soft)}\n";

bool page_open(Page *page, const char *folder, const char *title, Memory *memory,
               Error *err) {
    static const char name[] = "/index.html";
    *page = (Page){.memory = memory};
    const size_t room = strlen(folder) + sizeof name;
    char *path = memory_new(memory, room, 1, err);
    if (!path) return false;
    snprintf(path, room, "%s%s", folder, name);
    bool done = file_create(path, &page->file, memory, err);
    memory_free(memory, path);
    if (!done) return false;
    FILE *out = page->file.stream;
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<title>",
          out);
    page_text(page, title, strlen(title));
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>", style);
    page_text(page, title, strlen(title));
    fputs("</h1>\n", out);
    return true;
}

void page_text(const Page *page, const char *text, size_t length) {
    FILE *out = page->file.stream;
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\n':
            fputc(' ', out);
            break;
        default:
            fputc(text[i], out);
        }
    }
}

void page_picture(const Page *page, const GalleryPicture *picture) {
    FILE *out = page->file.stream;
    const size_t stem = strcspn(picture->file, ".");
    /* A browser shows no PDF in an img. */
    const bool shown = strcmp(picture->file + stem, ".pdf") != 0;
    fputs("<figure>\n", out);
    if (shown) {
        fprintf(out, "<img src=\"%s\" width=\"960\" height=\"540\" alt=\"",
                picture->file);
        page_text(page, picture->words, strlen(picture->words));
        fputs("\">\n", out);
    }
    fputs("<figcaption>", out);
    page_text(page, picture->words, gallery_finding(picture));
    fprintf(out,
            ". <small><a href=\"%s\">picture</a>, <a href=\"%.*s.csv\">numbers</a>, "
            "<a href=\"%.*s.txt\">in words</a></small></figcaption>\n</figure>\n",
            picture->file, (int)stem, picture->file, (int)stem, picture->file);
}

bool page_close(Page *page, Error *err) {
    fputs("</main>\n</body>\n</html>\n", page->file.stream);
    return file_commit(&page->file, err);
}

void page_discard(Page *page) {
    file_discard(&page->file);
}
