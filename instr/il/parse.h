/* SPDX-License-Identifier: MIT */
/** instr/il/parse.h - read types, members and strings in ilasm's syntax as metadata tokens.
 *  Functions that return int return 0 or an enum sxs_il_status. */
#ifndef SXS_INSTR_IL_PARSE_H
#define SXS_INSTR_IL_PARSE_H

#include "instr/il/lexer.h"
#include "instr/il/source.h"
#include "instr/metadata/signature.h"

#define SXS_PARSE_NODES 512
#define SXS_PARSE_BYTES 4096

struct sxs_parser {
    struct sxs_lexer            lex;
    const struct sxs_il_tokens *tokens;
    struct sxs_sig              sig; /* the signature that is being read; uses `nodes` */
    struct sxs_sig_node         nodes[SXS_PARSE_NODES];
    uint8_t                     bytes[SXS_PARSE_BYTES]; /* the signature as bytes */
};

/** sxs_parse_type - read a type as signatures contain it. Returns its node in p->sig, or
 *  SXS_SIG_NONE after an error. */
uint32_t sxs_parse_type(struct sxs_parser *p);

/** sxs_parse_type_token - read a type that is an operand: the name of a class, or any type that can
 *  be in a signature. */
int sxs_parse_type_token(struct sxs_parser *p, uint32_t *token);

/** sxs_parse_method, sxs_parse_field - read `[instance] TYPE OWNER::NAME[<...>](...)` or
 *  `TYPE OWNER::NAME`. */
int sxs_parse_method(struct sxs_parser *p, uint32_t *token);
int sxs_parse_field(struct sxs_parser *p, uint32_t *token);

/** sxs_parse_call_site - read the signature of a calli: `[unmanaged cdecl] TYPE(...)`. */
int sxs_parse_call_site(struct sxs_parser *p, uint32_t *token);

/** sxs_parse_string - read a string literal or `bytearray (...)`. */
int sxs_parse_string(struct sxs_parser *p, uint32_t *token);

#endif
