#!/bin/bash
# SPDX-License-Identifier: MIT
# completion.sh - checks that bash and zsh complete verbs, options, values, files and the command to run.
# run: without sanitizers
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
for shell in bash zsh; do
    try "$SXS" --completion $shell
    is "--completion $shell: exit status 0" "0:" "$status:$err"
    cp "$T/out" "$T/$shell"
done
try "$SXS" --completion fish
has "--completion of an unsupported shell is refused" "$status:$err" "2:" "'fish': expected bash or zsh"
bash -n "$T/bash"; is "bash parses the completion script" 0 $?
mkdir "$T/here" && touch "$T/here/rules.xml" && mkdir "$T/here/session" && cd "$T/here" || exit 1
mkdir "$T/commands" && ln -s /bin/true "$T/commands/sxs-test-command"
export PATH=$T/commands:$PATH

# complete_words WORD...: prints the completions of the last word in one line. "=" is a word of its own.
complete_words() {
    bash --norc -c '. "$1"; [ -z "$2" ] || . "$2"; shift 2
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
        _sxsprof; printf "%s\n" "${COMPREPLY[@]}"' bash "$T/bash" "${LIBRARY:-}" "$@" 2>&1 | sort | paste -sd' '
}
completes() { # CLAIM EXPECTED WORD...
    local claim=$1 want=$2
    shift 2
    is "$claim" "$want" "$(complete_words sxsprof "$@")"
}
verbs=$("$SXS" --help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p' | sort | paste -sd' ')
completes "verbs" "--help --version $verbs" ""
completes "a part of a verb is completed" "sample" sam
completes "help: verbs are completed" "$verbs" help ""
for verb in $verbs; do
    [ "$verb" = help ] && continue
    options=$("$SXS" "$verb" --help | grep -o '^ *\(-[a-zA-Z?], \)\?--[a-z-]*' | grep -o -e '--[a-z-]*' | sort | paste -sd' ')
    completed=$(complete_words sxsprof "$verb" -- | tr ' ' '\n' | grep '^--')
    is "$verb: every option of its help is completed" "$options" "$(grep -xF -e "${options// /$'\n'}" <<<"$completed" | paste -sd' ')"
    case $verb in sample | calls | trace | alloc | native | locks | wait | exceptions | events | gc | instrument) more=record ;; *) more=$verb ;; esac
    is "$verb: and no other one, but those of record" "" "$(grep -vxF -e "$("$SXS" "$more" --help | grep -o -e '--[a-z-]*'; tr ' ' '\n' <<<"$options")" <<<"$completed")"
done
completes "values of an option of a tool" "count time trace tree" calls --mode ""
completes "a part of a value is completed" "time trace tree" calls --mode t
completes "values of --data, of which each verb has its own" "alloc cpu live locks native native-live wait wall" fleet --data ""
completes "values of --data of a report" "native native-live" report --data na
completes "values, as the word after =" "fast snapshot unwind" sample --walker = ""
completes "values, when = is the last word" "fast snapshot unwind" sample --walker =
completes "a value that is only a prefix, such as one:" "one:" run --pick o
completes "names of tools" "calls census" run --tool c
completes "-o is completed to files and folders" "rules.xml session" sample -o ""
completes "an option that takes any text" "" sample --rate ""
completes "options after an option with a value" "--rate" sample --wall --walker = fast --ra
completes "instrument: files and folders" "rules.xml session" instrument ""
completes "report: files and folders" "rules.xml session" report ""
completes "after -- commands are completed" "sxs-test-command" run --quiet -- sxs-test-comm
completes "commands are completed without -- too" "sxs-test-command" instrument rules.xml sxs-test-comm
completes "arguments of the command are completed to files" "rules.xml" run -- sxs-test-command ru
completes "options of the command are not completed to options of sxsprof" "" run sxs-test-command --qui
library=$(ls /usr/share/bash-completion/bash_completion 2>/dev/null)
if [ -n "$library" ]; then
    echo '_own() { COMPREPLY=(of-the-command); }; complete -F _own sxs-test-command' | cat "$library" - >"$T/library"
    LIBRARY=$T/library completes "with bash-completion: the completion of the command itself is used" "of-the-command" \
        run --quiet -- sxs-test-command ""
else
    skip "with bash-completion: the completion of the command itself is used" "no package bash-completion"
fi

if ! command -v zsh >/dev/null; then
    skip "completion of zsh" "no zsh here"
    finish
fi
zsh -n "$T/zsh"; is "zsh parses the completion script" 0 $?
mkdir "$T/functions" && cp "$T/zsh" "$T/functions/_sxsprof" && ln -s "$SXS" "$T/here/sxsprof"
cat >"$T/zsh.py" <<'PY'
# Types a line and a tab into a zsh with the completion; succeeds when the wanted text appears in the line or
# below it.
import os, pty, re, select, sys, time
functions, line, want = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", COLUMNS="200", LINES="60", ZDOTDIR="/nonexistent")
    os.execvp("zsh", ["zsh", "-f", "-i"])
data = ""
def until(text, seconds=60):
    global data
    end = time.time() + seconds
    while text not in data and time.time() < end and select.select([fd], [], [], end - time.time())[0]:
        data += os.read(fd, 4000).decode(errors="replace")
    return text in data
def say(text):
    os.write(fd, text.encode())
say(f"stty cols 200; fpath=({functions} $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=0; unsetopt zle_bracketed_paste; PS1='ready> '; echo set''up\n")
if until("setup\r\n") and until("ready> "):
    data = ""
    say(line + "\t\t")
    print("found" if until(want) else "not found: " + repr(data[-2000:]))
os.close(fd)
PY
zsh_completes() { # CLAIM LINE TEXT: after the line and a tab, zsh shows the text
    is "zsh: $1" found "$(PATH=$T/here:$PATH timeout 120 python3 "$T/zsh.py" "$T/functions" "$2" "$3" 2>&1)"
}
zsh_completes "verbs with their descriptions" "sxsprof " "count and time the calls of functions"
zsh_completes "a part of a verb is completed" "sxsprof runt" "sxsprof runtimes"
zsh_completes "options with their help" "sxsprof sample --" "Samples a second of each thread"
zsh_completes "values" "sxsprof calls --mode=tr" "trace"
zsh_completes "instrument: files" "sxsprof instrument ru" "rules.xml"
zsh_completes "the command to run" "sxsprof run --quiet sxs-test-com" "sxs-test-command"
zsh_completes "help: verbs are completed" "sxsprof help doc" "sxsprof help doctor"
finish
