export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** The line that asks the shell to add file names. Every other line is a word, a tab and a description. */
export const FILES = ":files";

/**
 * The completion scripts that shells load at startup. The scripts get the candidates from the hidden command
 * `complete`.
 */
export const scripts: Record<Shell, string> = {
  bash: `# ostiary's completion for bash: source <(ostiary completion bash)
_ostiary() {
  local current=\${COMP_WORDS[COMP_CWORD]} word file
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    if [ "$word" = "${FILES}" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("$word")
    fi
  done < <(ostiary complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ostiary ostiary
`,
  zsh: `#compdef ostiary
# ostiary's completion for zsh: source <(ostiary completion zsh), or this text as the file _ostiary of $fpath
_ostiary() {
  local line files
  local -a candidates
  while IFS= read -r line; do
    if [[ $line == ${FILES} ]]; then
      files=1
    else
      candidates+=("\${\${line//:/\\\\:}/$'\\t'/:}")
    fi
  done < <(ostiary complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#candidates )) && _describe ostiary candidates
  [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _ostiary ]]; then
  _ostiary "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _ostiary ostiary
fi
`,
  fish: `# ostiary's completion for fish: ostiary completion fish | source
function __ostiary_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (ostiary complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = "${FILES}"
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c ostiary -f -a "(__ostiary_complete)"
`,
};
