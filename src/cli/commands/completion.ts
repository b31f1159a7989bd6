import { Argument, type Command } from 'commander';
import { type CliCommand, PROGRAM } from '../command.js';
import type { CliContext } from '../session.js';

/** `completion bash|zsh`: a script that completes the commands, their options and the values of these. */
export function addCompletionCommand(program: CliCommand, context: CliContext): void {
  program
    .command('completion')
    .summary('Print a completion script for a shell.')
    .description(
      'Print a script with which a shell completes commands, options and their values. At the end of ~/.bashrc, write: source <(devplatform completion bash). At the end of ~/.zshrc: source <(devplatform completion zsh).',
    )
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .printsJson('{script}')
    .examples('completion bash', 'completion zsh')
    // Not `execute`, which would start the application each time that a shell starts.
    .action((shell: string, _: object, own: CliCommand) => {
      const script = `${shell === 'zsh' ? ZSH_PREFIX : ''}${bashScript(program)}`;
      const { json } = own.optsWithGlobals<{ json?: boolean }>();
      context.stdout.write(json === true ? `${JSON.stringify({ script })}\n` : script);
    });
}

/** Zsh runs completion functions of bash. */
const ZSH_PREFIX = `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
`;

/** A case for each command and for each option with a list of values. The words before the cursor find the command. */
function bashScript(program: Command): string {
  const all = commandsOf(program, '');
  const paths = all.map(({ path }) => `'${path}'`).join('|');
  const values = all.flatMap(({ path, command }) =>
    command.options.flatMap(({ long, argChoices }) =>
      argChoices ? [`    '${path}:${long}') words='${argChoices.join(' ')}' ;;`] : [],
    ),
  );
  const words = all.map(
    ({ path, command }) => `    '${path}:'*) words='${wordsOf(program, command)}' ;;`,
  );
  return `_${PROGRAM}() {
  local path='' word words='' index=1
  while [ "$index" -lt "$COMP_CWORD" ]; do
    word="\${COMP_WORDS[$index]}"
    case "$path $word" in
      ${paths}) path="$path $word" ;;
    esac
    index=$((index + 1))
  done
  case "$path:\${COMP_WORDS[$((COMP_CWORD - 1))]}" in
${[...values, ...words].join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[$COMP_CWORD]}"))
}
complete -o default -F _${PROGRAM} ${PROGRAM}
`;
}

/** The path of each command, such as " app list", and that of the program, which is empty. */
function commandsOf(command: Command, path: string): { path: string; command: Command }[] {
  const below = command.commands.flatMap((one) => commandsOf(one, `${path} ${one.name()}`));
  return [{ path, command }, ...below];
}

function wordsOf(program: Command, command: Command): string {
  const options = new Set([...command.options, ...program.options].map(({ long }) => long ?? ''));
  return [
    ...command.commands.map((one) => one.name()),
    ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    ...options,
    '--help',
  ].join(' ');
}
