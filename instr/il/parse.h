/* SPDX-License-Identifier: MIT */
/** parse.h - types and members in ilasm's syntax, as tokens. */
#ifndef SXS_INSTR_PARSE_H
#define SXS_INSTR_PARSE_H

#include "instr/il/lexer.h"
#include "instr/metadata/signature.h"

#define SXS_PARSE_NODES 512
#define SXS_PARSE_BYTES 4096

struct sxs_parser {
    struct sxs_lexer            lex;
    const struct sxs_il_tokens *tokens;
    struct sxs_sig              sig; /* the types read so far */
    struct sxs_sig_node         nodes[SXS_PARSE_NODES];
    uint8_t                     bytes[SXS_PARSE_BYTES];
};

/** sxs_parse_type - a type as it stands in signatures. Returns its node, SXS_SIG_NONE: failed. */
uint32_t sxs_parse_type(struct sxs_parser *p);

/** sxs_parse_type_token - a type as an operand: a class by name, or a type of signatures. */
int sxs_parse_type_token(struct sxs_parser *p, uint32_t *token);

/** sxs_parse_method, _field - `[instance] TYPE OWNER::NAME[<...>](...)`. */
int sxs_parse_method(struct sxs_parser *p, uint32_t *token);
int sxs_parse_field(struct sxs_parser *p, uint32_t *token);

/** sxs_parse_call_site - `[unmanaged cdecl] TYPE(...)`. */
int sxs_parse_call_site(struct sxs_parser *p, uint32_t *token);

/** sxs_parse_string - a literal, or bytearray (...). */
int sxs_parse_string(struct sxs_parser *p, uint32_t *token);

#endif
