/* SPDX-License-Identifier: MIT */
/**
 * needs.h - the functions of libsxsprof.so that libsxsprof-clrie.so calls. The one list of them: the library
 * makes a table of addresses of it (needs.S), and the engine's library a stub for each row
 * (arch/x86_64/clrie/stubs.S), so that its code calls them by their names. Assembly includes this file, too.
 *
 * A function is added here when the linker reports it as undefined in libsxsprof-clrie.so.
 * tests/lint/symbols.sh reports rows that nobody needs. Variables cannot be shared in this way: what is constant,
 * such as IIDs, is linked into both libraries.
 */
#ifndef SXS_CLRIE_LINK_NEEDS_H
#define SXS_CLRIE_LINK_NEEDS_H

/* clang-format off */
#define CLRIE_NEEDS(X)             \
    X(clrie_attach_free)           \
    X(clrie_attach_parse)          \
    X(clrie_config_free)           \
    X(clrie_config_read)           \
    X(clrie_config_read_file)      \
    X(sxs_callee_effect)           \
    X(sxs_code_path_refused)       \
    X(sxs_code_type)               \
    X(sxs_compressed_read)         \
    X(sxs_compressed_write)        \
    X(sxs_compressed_write_signed) \
    X(sxs_descriptors_are_own)     \
    X(sxs_descriptors_call)        \
    X(sxs_env_clrie_get)           \
    X(sxs_env_clrie_name)          \
    X(sxs_env_clrie_prefix)        \
    X(sxs_env_entry)               \
    X(sxs_folder_path_open)        \
    X(sxs_guarded_copy)            \
    X(sxs_guarded_reliable)        \
    X(sxs_il_add_clause)           \
    X(sxs_il_append)               \
    X(sxs_il_check)                \
    X(sxs_il_clear)                \
    X(sxs_il_free)                 \
    X(sxs_il_insert_after)         \
    X(sxs_il_insert_before)        \
    X(sxs_il_insn)                 \
    X(sxs_il_length)               \
    X(sxs_il_local_count)          \
    X(sxs_il_method_arity)         \
    X(sxs_il_new)                  \
    X(sxs_il_offsets)              \
    X(sxs_il_old_at)               \
    X(sxs_il_old_next)             \
    X(sxs_il_old_prev)             \
    X(sxs_il_read)                 \
    X(sxs_il_read_code)            \
    X(sxs_il_remove)               \
    X(sxs_il_set_changed)          \
    X(sxs_il_switch)               \
    X(sxs_il_target)               \
    X(sxs_il_write)                \
    X(sxs_index_free)              \
    X(sxs_index_reserve)           \
    X(sxs_log_write)               \
    X(sxs_pe_directory)            \
    X(sxs_pe_offset)               \
    X(sxs_pe_parse)                \
    X(sxs_sig_parse)               \
    X(sxs_sig_plain)               \
    X(sxs_sig_write)               \
    X(sxs_text_in)                 \
    X(sxs_text_put)                \
    X(sxs_text_putf)               \
    X(sxs_type_put)                \
    X(sxs_types_of_import)         \
    X(sxs_utf16_len)               \
    X(sxs_utf16_next)              \
    X(sxs_utf16_put)               \
    X(sxs_utf8_next)               \
    X(sxs_utf8_of)                 \
    X(sxs_utf8_put)
/* clang-format on */

#endif
