/* SPDX-License-Identifier: MIT */
/** instr/il/lexer.h - split text in ilasm's syntax into words, with their places in the text. */
#ifndef SXS_INSTR_IL_LEXER_H
#define SXS_INSTR_IL_LEXER_H

#include "include/sxs_il.h"

#define SXS_WORD_MAX 1024

enum sxs_word_kind {
    SXS_WORD_END,  /* end of the text, or an error */
    SXS_WORD_LINE, /* end of a line */
    SXS_WORD_NAME, /* names with or without dots and quotes, opcodes, keywords, .ctor */
    SXS_WORD_NUMBER,
    SXS_WORD_STRING, /* escapes are not resolved */
    SXS_WORD_MARK,   /* one character, `::` or `...` */
};

struct sxs_lexer {
    struct sxs_il_body  *body;               /* memory for the parser */
    const char          *text, *at;          /* at: the byte after the current word */
    const char          *word;               /* first byte of the current word */
    enum sxs_word_kind   kind;               /* of the current word */
    int                  quoted;             /* a name in quotes, which is never a keyword */
    char                 name[SXS_WORD_MAX]; /* a name without its quotes, or a mark */
    struct sxs_il_error *error;              /* receives the first error; may be NULL */
    int                  status;             /* enum sxs_il_status; an error stays */
};

/** sxs_lex_begin - start at the first word of @text, which is borrowed. */
void sxs_lex_begin(struct sxs_lexer *l, const char *text);

/** sxs_lex_next - go to the next word. */
void sxs_lex_next(struct sxs_lexer *l);

/** sxs_lex_is - is the current word the mark or keyword @what? */
int sxs_lex_is(const struct sxs_lexer *l, const char *what);

/** sxs_lex_take - if the current word is @what, go to the next word and return 1; else return 0. */
int sxs_lex_take(struct sxs_lexer *l, const char *what);

/** sxs_lex_expect - go past the word @what, or fail. Returns 0 or an enum sxs_il_status. */
int sxs_lex_expect(struct sxs_lexer *l, const char *what);

/** sxs_lex_fail - report "line 3, column 5: ..." for the current word. Only the first failure is
 *  reported. Returns an enum sxs_il_status, not 0. */
int sxs_lex_fail(struct sxs_lexer *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** sxs_lex_fail_at - likewise, for the word that begins at @word in the same text. */
int sxs_lex_fail_at(struct sxs_lexer *l, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** sxs_lex_integer - read the current word as a number, which may have 0x, a leading 0 for octal,
 *  and a minus sign. Returns 0 or an enum sxs_il_status. */
int sxs_lex_integer(struct sxs_lexer *l, int64_t *value);

#endif
