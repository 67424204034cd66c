/* SPDX-License-Identifier: MIT */
#include "cmd/completion.h"

#include "cmd/command.h"
#include "cmd/report/data_kind.h"
#include "cmd/settings.h"
#include "cmd/record_verbs.h"
#include "cmd/verbs.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What the word after an option, or an argument of a verb, is completed to. */
enum values { VALUES_NONE, VALUES_FILES, VALUES_FOLDERS, VALUES_LIST };

/* Called for each option. @context: of the caller. */
typedef void take_option(const struct argp_option *option, void *context);

/* Options that sxs_options_parse() and argp add. */
static const struct argp_option common[] = {
    {"help", 'h', NULL, 0, "Print the options of the verb", 0},
    {"usage", 0, NULL, 0, "Print a short usage message", 0},
    {"version", 'V', NULL, 0, "Print version and commit", 0},
};

/* Returns the values of the argument DATA, which help does not list before the text of the option, because they
 * are longer than a line; argp cannot print such a list. NULL: the argument is another one. */
static const char *long_values(const char *verb, const char *argument)
{
    if (!argument || strcmp(argument, "DATA") != 0)
        return NULL;
    return strcmp(verb, "diff") == 0
               ? "samples|calls|alloc|live|native|native-live|locks|lock-owners|wait|gc|heap"
               : sxs_data_names();
}

/* Passes an option on with the values that it takes: the help of recording verbs may not show them. */
static void take_with_values(const char *verb, const struct argp_option *o, take_option *take,
                             void *context)
{
    struct argp_option whole = *o;
    const char        *values = o->name ? sxs_record_verb_values(verb, o->name) : NULL;
    if (!values)
        values = long_values(verb, o->arg);
    if (values)
        whole.arg = values;
    take(&whole, context);
}

/* For whom the options of a verb are listed. */
struct taker {
    const char  *verb;
    take_option *take;
    void        *context;
};

static void take_one(const struct argp_option *o, void *arg)
{
    const struct taker *t = arg;
    if (o->name || (o->key > ' ' && o->key < 127))
        take_with_values(t->verb, o, t->take, t->context);
}

static void for_each_option(const struct sxs_verb *verb, take_option *take, void *context)
{
    const struct argp *argp = sxs_verb_options(verb);
    if (!argp)
        return;
    struct taker taker = {verb->name, take, context};
    sxs_options_each(argp, take_one, &taker);
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        take(&common[i], context);
}

static char short_name(const struct argp_option *o)
{
    return o->key > ' ' && o->key < 127 ? (char)o->key : '\0';
}

/* Writes the words that @argument, such as "on|off" or "all|first|one:WHAT", allows: what is in
 * capitals is not for completion. Returns how many there are. */
static unsigned put_choices(const char *argument, FILE *to)
{
    unsigned n = 0;
    while (*argument) {
        size_t len = strcspn(argument, "|"), lower = 0;
        while (lower < len && !isupper((unsigned char)argument[lower]))
            lower++;
        if (lower && (lower == len || argument[lower - 1] == ':') && to)
            fprintf(to, "%s%.*s", n ? " " : "", (int)lower, argument);
        n += lower && (lower == len || argument[lower - 1] == ':');
        argument += len + (argument[len] == '|');
    }
    return n;
}

static enum values values_of(const char *argument)
{
    if (strncmp(argument, "NAME[", 5) == 0 || strcmp(argument, "DATA") == 0 ||
        put_choices(argument, NULL))
        return VALUES_LIST;
    if (strncmp(argument, "DIR", 3) == 0)
        return VALUES_FOLDERS;
    if (strncmp(argument, "FILE", 4) == 0 || strcmp(argument, "OUT") == 0 ||
        strncmp(argument, "PATH", 4) == 0)
        return VALUES_FILES;
    return VALUES_NONE;
}

/* Prints the words of VALUES_LIST. @escape: printed before each ':'. */
static void put_list(const char *argument, const char *escape)
{
    char  words[256] = "";
    FILE *to = fmemopen(words, sizeof(words), "w");
    if (to && strncmp(argument, "NAME[", 5) == 0)
        fputs(sxs_tool_names(" "), to);
    else if (to && strcmp(argument, "DATA") == 0)
        put_choices(sxs_data_names(), to); /* too many for the column of the help */
    else if (to)
        put_choices(argument, to);
    if (to)
        fclose(to);
    for (const char *at = words; *at; at++)
        printf("%s%c", *at == ':' ? escape : "", *at);
}

/* Returns true when the verb runs a command, which is completed as a command. */
static bool runs_command(const struct sxs_verb *verb)
{
    const struct argp *argp = sxs_verb_options(verb);
    return argp && argp->args_doc && strstr(argp->args_doc, "COMMAND");
}

/* Returns true when the first argument of a verb that runs a command is a file. */
static bool takes_rules(const struct sxs_verb *verb)
{
    return strncmp(sxs_verb_options(verb)->args_doc, "RULES", 5) == 0;
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_name(const struct argp_option *o, void *context)
{
    (void)context;
    if (o->name)
        printf(" --%s", o->name);
    if (short_name(o))
        printf(" -%c", short_name(o));
}

static void bash_argument(const struct argp_option *o, void *context)
{
    const char *verb = context;
    if (!o->arg)
        return;
    fputs("        ", stdout);
    if (o->name)
        printf("%s,--%s", verb, o->name);
    if (short_name(o))
        printf("%s%s,-%c", o->name ? "|" : "", verb, short_name(o));
    fputs(") ", stdout);
    switch (values_of(o->arg)) {
    case VALUES_LIST:
        fputs("words='", stdout);
        put_list(o->arg, "");
        fputs("'", stdout);
        break;
    case VALUES_FILES: fputs("files=-f", stdout); break;
    case VALUES_FOLDERS: fputs("files=-d", stdout); break;
    default: fputs("files=none", stdout); break;
    }
    puts(" ;;");
}

static const char bash_head[] =
    "# SPDX-License-Identifier: MIT\n"
    "# Completion of sxsprof for bash; generated by sxsprof --completion bash.\n\n"
    "# _sxsprof_value OPTION: sets words or files for the argument of the verb's option; fails "
    "when "
    "it has none.\n"
    "_sxsprof_value()\n{\n    words='' files=''\n    case $verb,$1 in\n";

static const char bash_middle[] =
    "    *) return 1 ;;\n    esac\n}\n\n"
    "_sxsprof()\n{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]-} words='' files='' i word "
    "option=''\n"
    "    local names='' rules='' command=''\n"
    "    COMPREPLY=()\n";

static const char bash_tail[] =
    "    esac\n"
    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "        COMPREPLY=($(compgen -W \"$verbs --help --version\" -- \"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    # Find the command, and the option whose argument the last word is.\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [ -n \"$option\" ] && [ \"$word\" = = ]; then continue; fi\n"
    "        if [ -n \"$option\" ]; then option=''; continue; fi\n"
    "        case $word in\n"
    "        --) [ -n \"$command\" ] && _sxsprof_command $((i + 1)); return ;;\n"
    "        -*) if _sxsprof_value \"$word\"; then option=$word; fi ;;\n"
    "        *)  if [ -n \"$rules\" ]; then rules=''\n"
    "            elif [ -n \"$command\" ]; then _sxsprof_command $i; return; fi ;;\n"
    "        esac\n"
    "    done\n"
    "    [ \"$cur\" = = ] && cur=''\n"
    "    if [ -n \"$option\" ]; then\n"
    "        _sxsprof_value \"$option\"\n"
    "    else\n"
    "        words='' files=''\n"
    "        case $cur in\n"
    "        -*) words=$names ;;\n"
    "        *)  if [ \"$verb\" = help ]; then words=$verbs\n"
    "            elif [ -n \"$rules\" ] || [ -z \"$command\" ]; then files=-f\n"
    "            else _sxsprof_command $COMP_CWORD; return; fi ;;\n"
    "        esac\n"
    "    fi\n"
    "    case $files in\n"
    "    -f | -d)\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen \"$files\" -- \"$cur\") ;;\n"
    "    '') mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
    "    esac\n"
    "}\n\n"
    "# _sxsprof_command N: word N is a command; complete it and its arguments as such.\n"
    "_sxsprof_command()\n{\n"
    "    if declare -F _command_offset >/dev/null; then\n"
    "        _command_offset \"$1\"\n"
    "    elif [ \"$1\" -eq \"$COMP_CWORD\" ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -c -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
    "    else\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
    "    fi\n"
    "}\n\n"
    "complete -F _sxsprof sxsprof\n";

static void print_bash(void)
{
    fputs(bash_head, stdout);
    for (size_t i = 0; i < sxs_n_verbs; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%s", sxs_verbs[i].name);
        for_each_option(&sxs_verbs[i], bash_argument, name);
    }
    fputs(bash_middle, stdout);
    fputs("    local verbs='", stdout);
    for (size_t i = 0; i < sxs_n_verbs; i++)
        if (sxs_verbs[i].group != SXS_VERBS_UNLISTED)
            printf("%s%s", i ? " " : "", sxs_verbs[i].name);
    puts("'\n    case $verb in");
    for (size_t i = 0; i < sxs_n_verbs; i++) {
        printf("    %s) names='", sxs_verbs[i].name);
        for_each_option(&sxs_verbs[i], bash_name, NULL);
        fputs("'", stdout);
        if (runs_command(&sxs_verbs[i]))
            printf(" command=yes%s", takes_rules(&sxs_verbs[i]) ? " rules=yes" : "");
        puts(" ;;");
    }
    fputs(bash_tail, stdout);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Prints text within single quotes and brackets of _arguments. */
static void zsh_text(const char *text)
{
    for (; *text && *text != '\v'; text++) {
        if (strchr("[]:\\", *text))
            putchar('\\');
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, stdout);
    }
}

static void zsh_option(const struct argp_option *o, void *context)
{
    (void)context;
    for (int form = 0; form < 2; form++) {
        if (form ? !short_name(o) : !o->name)
            continue;
        fputs("            '*", stdout);
        if (form)
            printf("-%c%s", short_name(o), o->arg ? "+" : "");
        else
            printf("--%s%s", o->name, o->arg ? "=" : "");
        putchar('[');
        zsh_text(o->doc ? o->doc : "");
        putchar(']');
        if (o->arg) {
            putchar(':');
            zsh_text(o->arg);
            putchar(':');
            switch (values_of(o->arg)) {
            case VALUES_LIST:
                putchar('(');
                put_list(o->arg, "\\");
                putchar(')');
                break;
            case VALUES_FILES: fputs("_files", stdout); break;
            case VALUES_FOLDERS: fputs("_files -/", stdout); break;
            default: break;
            }
        }
        puts("' \\");
    }
}

static void zsh_verb(const struct sxs_verb *verb)
{
    printf("        %s)\n", verb->name);
    if (!sxs_verb_options(verb)) {
        puts("            _arguments '1:verb:($verbs)' ;;");
        return;
    }
    puts("            _arguments -S : \\");
    for_each_option(verb, zsh_option, NULL);
    if (runs_command(verb) && takes_rules(verb))
        puts("            '1:rules:_files' '*:: :{ (( CURRENT == 1 )) && _command_names -e || "
             "_normal }' ;;");
    else if (runs_command(verb))
        puts("            '(-)1:command:_command_names -e' '*::arguments:_normal' ;;");
    else
        puts("            '*:file:_files' ;;");
}

static void print_zsh(void)
{
    puts("#compdef sxsprof\n"
         "# SPDX-License-Identifier: MIT\n"
         "# Completion of sxsprof for zsh; generated by sxsprof --completion zsh.\n\n"
         "_sxsprof()\n{\n"
         "    local curcontext=$curcontext state line verbs\n"
         "    typeset -A opt_args\n"
         "    verbs=(");
    for (size_t i = 0; i < sxs_n_verbs; i++) {
        if (sxs_verbs[i].group == SXS_VERBS_UNLISTED)
            continue;
        printf("        '%s:", sxs_verbs[i].name);
        zsh_text(sxs_verbs[i].summary);
        puts("'");
    }
    puts("    )\n"
         "    _arguments -C -S '--help[Print the verbs]' '--version[Print version and commit]' \\\n"
         "        '1: :->verb' '*:: :->arguments'\n"
         "    case $state in\n"
         "    verb) _describe -t verbs verb verbs ;;\n"
         "    arguments)\n"
         "        verbs=(${verbs%%:*})\n"
         "        curcontext=${curcontext%:*:*}:sxsprof-$words[1]:\n"
         "        case $words[1] in");
    for (size_t i = 0; i < sxs_n_verbs; i++)
        zsh_verb(&sxs_verbs[i]);
    puts("        esac ;;\n    esac\n}\n\n_sxsprof \"$@\"");
}

/* ---- one name, one option -------------------------------------------------------------------- */

#define MAX_NAMES 128

struct completion_names {
    const char *all[MAX_NAMES];
    char        letters[MAX_NAMES];
    size_t      n;
    const char *twice; /* a name or letter of two options */
};

static void note_name(const struct argp_option *o, void *context)
{
    struct completion_names *names = context;
    for (size_t i = 0; i < names->n; i++)
        if ((o->name && names->all[i] && strcmp(names->all[i], o->name) == 0) ||
            (short_name(o) && names->letters[i] == short_name(o)))
            names->twice = o->name;
    if (names->n < MAX_NAMES) {
        names->all[names->n] = o->name;
        names->letters[names->n++] = short_name(o);
    }
}

/* Returns false after a message when a verb has two options of one name: only the first one would ever be
 * used. The build fails then. */
static bool names_are_unique(void)
{
    for (size_t i = 0; i < sxs_n_verbs; i++) {
        struct completion_names names = {.n = 0};
        for_each_option(&sxs_verbs[i], note_name, &names);
        if (names.twice) {
            sxs_complain("sxsprof %s has two options --%s", sxs_verbs[i].name, names.twice);
            return false;
        }
    }
    return true;
}

int sxs_print_completion(const char *shell)
{
    if (!names_are_unique())
        return SXS_EXIT_FAILED;
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else
        return sxs_wrong_input("--completion: '%s': expected bash or zsh", shell);
    return sxs_finish_output();
}
