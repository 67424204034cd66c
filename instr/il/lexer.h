/* SPDX-License-Identifier: MIT */
/** lexer.h - the words of ilasm's syntax, and where in the text they are. */
#ifndef SXS_INSTR_LEXER_H
#define SXS_INSTR_LEXER_H

#include "instr/il/assemble.h"

#define SXS_WORD_MAX 1024

enum sxs_word_kind {
    SXS_WORD_END,    /* of the text */
    SXS_WORD_LINE,   /* a line's */
    SXS_WORD_NAME,   /* also with dots, quoted or not; opcodes, keywords, .ctor */
    SXS_WORD_NUMBER,
    SXS_WORD_STRING, /* still with its escapes */
    SXS_WORD_MARK,   /* one character, `::` or `...` */
};

struct sxs_lexer {
    struct sxs_il_body  *body;
    const char          *text, *at; /* behind the current word */
    const char          *word;      /* its first byte */
    enum sxs_word_kind   kind;
    int                  quoted;           /* a name in quotes is never a keyword */
    char                 name[SXS_WORD_MAX]; /* of a name, without quotes; of a mark */
    struct sxs_il_error *error;
    int                  status;
};

void sxs_lex_begin(struct sxs_lexer *l, const char *text);

/** sxs_lex_next - the next word. */
void sxs_lex_next(struct sxs_lexer *l);

/** sxs_lex_is - is it this mark, or this keyword? */
int sxs_lex_is(const struct sxs_lexer *l, const char *what);

/** sxs_lex_take - if so, go on to the next. */
int sxs_lex_take(struct sxs_lexer *l, const char *what);

/** sxs_lex_expect - go on behind @what, or fail. Returns 0 or a status. */
int sxs_lex_expect(struct sxs_lexer *l, const char *what);

/** sxs_lex_fail - "line 3, column 5: ..." for the current word. The first failure stays. Returns a status. */
int sxs_lex_fail(struct sxs_lexer *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** sxs_lex_fail_at - the same for the word that began at @word, in the same text. */
int sxs_lex_fail_at(struct sxs_lexer *l, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** sxs_lex_integer - the number here; 0x and a sign are fine. */
int sxs_lex_integer(struct sxs_lexer *l, int64_t *value);

#endif
