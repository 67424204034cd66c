/* SPDX-License-Identifier: MIT */
/* fuzz_clrie.c - bytes as configuration files of plug-ins and as data of an attach. See fuzz.h. What is read
 * must be whole: no empty text, no path outside of the folder's name, and one line for each error. Without
 * arguments each input is a damaged copy of one of the texts below, made of words of the format. */
#include "tests/fuzz/fuzz.h"

#include "clrie/config/attach.h"

static unsigned n_lines;

static void note(void *arg, const char *line)
{
    (void)arg;
    MUST(*line && !strchr(line, '\n'));
    n_lines++;
}

static void check_plugins(const uint8_t *bytes, size_t size)
{
    struct clrie_plugin_list list = {NULL, 0};
    int                      err;
    n_lines = 0;
    err = clrie_config_parse(&list, "/folder/c.xml", (const char *)bytes, size, note, NULL);
    MUST((err == 1) == (n_lines > 0));
    for (size_t i = 0; i < list.n; i++) {
        const struct clrie_plugin_declaration *d = &list.items[i];
        MUST(*d->name && *d->description && d->line);
        MUST(strncmp(d->path, "/folder/", 8) == 0 && d->path[8]);
        MUST(strcmp(d->config, "/folder/c.xml") == 0);
    }
    fuzz_whole += !err;
    clrie_config_free(&list);
}

static void check_attach(const uint8_t *bytes, size_t size)
{
    struct clrie_attach attach;
    int                 err;
    n_lines = 0;
    err = clrie_attach_parse(bytes, size, &attach, note, NULL);
    MUST((err == 1) == (n_lines > 0));
    for (size_t i = 0; i < attach.n_sources; i++) {
        const struct clrie_attach_source *s = &attach.sources[i];
        MUST(*s->path);
        for (size_t k = 0; k < s->n_settings; k++)
            MUST(*s->settings[k].name && *s->settings[k].value);
    }
    fuzz_whole += !err;
    clrie_attach_free(&attach);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_plugins(bytes, size);
    check_attach(bytes, size);
    return 0;
}

#ifndef SXS_LIBFUZZER
static const char *const texts[] = {
    "<?xml "
    "version=\"1.0\"?><InstrumentationEngineConfiguration>\n<InstrumentationMethod><Name>N</Name>"
    "<Description><![CDATA[D]]></Description><Module>m.so</Module>"
    "<ClassGuid>{D2959618-F9B6-4CB6-80CF-F3B0E3263888}</ClassGuid><Priority>50</Priority>"
    "</InstrumentationMethod>\n<InstrumentationMethod64><Name>O</Name><Description>E</Description>"
    "<Module>../n.so</Module><ClassGuid>{d2959618-f9b6-4cb6-80cf-f3b0e3263889}</ClassGuid>"
    "</InstrumentationMethod64></InstrumentationEngineConfiguration>",
    "<InstrumentationEngineConfiguration><InstrumentationEngine><Settings>"
    "<Setting Name=\"LogLevel\" Value=\"All\"/><Setting Name=\"LogFileLevel\" Value=\"Dumps\"/>"
    "<Setting Name=\"LogFilePath\" Value=\"/tmp/x\"/></Settings></InstrumentationEngine>"
    "<InstrumentationMethods><AddInstrumentationMethod ConfigPath=\"/a.xml\"><Settings>"
    "<Setting Name=\"a\" Value=\"b\"/></Settings></AddInstrumentationMethod>"
    "</InstrumentationMethods></InstrumentationEngineConfiguration>",
};

static const char *const words[] = {
    "<InstrumentationMethod>",
    "</InstrumentationMethod>",
    "<InstrumentationEngine>",
    "</InstrumentationEngine>",
    "<Settings>",
    "</Settings>",
    "<Setting Name=\"x\" Value=\"\"/>",
    "<Name>",
    "</Name>",
    "<Name/>",
    "<Priority>",
    "<Priority>99999999999</Priority>",
    "<Module>",
    "<AddInstrumentationMethod/>",
    "/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&#0;",
    "&#65;",
    "&amp;",
    "&x;",
    "<!DOCTYPE a [",
    "\"",
    "=",
    "\n",
    "<?a ?>",
    "\xef\xbb\xbf",
    "\xc3\xa4",
    "\xff",
    "xmlns=\"u\"",
};

static size_t put(uint8_t *out, size_t n, const void *from, size_t size)
{
    if (n + size > FUZZ_MAX)
        return n;
    memcpy(out + n, from, size);
    return n + size;
}

/* A text with pieces left out, doubled, or replaced by words. */
static size_t fuzz_make(uint8_t *out)
{
    const char *text = texts[roll(2)];
    size_t      size = strlen(text), n = 0, at = 0;
    while (at < size) {
        size_t piece = 1 + roll(120), left = size - at;
        piece = piece < left ? piece : left;
        if (roll(6)) /* mostly kept */
            n = put(out, n, text + at, piece);
        if (!roll(8)) {
            const char *word = words[roll(sizeof(words) / sizeof(words[0]))];
            n = put(out, n, word, strlen(word));
        }
        at += roll(12) ? piece : 0; /* sometimes once more */
    }
    return roll(4) ? n : fuzz_mutate(out, n);
}

int main(int argc, char **argv)
{
    return fuzz_main(argc, argv, "configuration files and data of an attach");
}
#endif
