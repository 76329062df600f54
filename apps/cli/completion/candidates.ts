import type { Argument, Command, Option } from "commander";

/** A word that may stand where the cursor is. */
export interface Candidate {
  word: string;
  description?: string;
}

/** The candidates, and whether a file may stand there too. */
export interface Candidates {
  words: Candidate[];
  files: boolean;
}

/** What only the registry or the profiles know: asked for when it is needed. */
export interface KnownNames {
  services(): Promise<string[]>;
  registries(): Promise<string[]>;
}

const SERVICE_ARGUMENTS = ["service", "name", "target"];
const FILE_ARGUMENTS = ["file", "target"];

/**
 * What may follow.
 *
 * @param typed the words behind the program's name; the last one is what the cursor stands in or behind
 */
export async function candidatesFor(
  program: Command,
  typed: readonly string[],
  known: KnownNames,
): Promise<Candidates> {
  const before = typed.slice(0, -1);
  const current = typed.at(-1) ?? "";
  const { command, positional, awaiting } = read(program, before);
  if (awaiting !== undefined) return startingWith(current, await valuesOf(awaiting, known));
  const equals = current.indexOf("=");
  if (current.startsWith("--") && equals > 0) {
    const option = optionsOf(program, command).find((each) => each.long === current.slice(0, equals));
    const values = option === undefined ? nothing : await valuesOf(option, known);
    const words = values.words.map(({ word }) => ({ word: `${current.slice(0, equals)}=${word}` }));
    return startingWith(current, { ...values, words });
  }
  if (current.startsWith("-")) return startingWith(current, flagsOf(program, command));
  if (command === undefined) return startingWith(current, commandsOf(program));
  const { registeredArguments: all } = command;
  const argument = all[positional] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
  return startingWith(current, argument === undefined ? nothing : await valuesOf(argument, known));
}

const nothing: Candidates = { words: [], files: false };

/** What the words before the cursor say: the command, how many arguments it has, the option that still wants its value. */
function read(program: Command, words: readonly string[]) {
  let command: Command | undefined;
  let awaiting: Option | undefined;
  let positional = 0;
  for (const word of words) {
    if (awaiting !== undefined) awaiting = undefined;
    else if (word.startsWith("-")) {
      awaiting = optionsOf(program, command).find((each) => each.long === word && each.required);
    } else if (command !== undefined) positional++;
    else command = program.commands.find((each) => each.name() === word);
  }
  return { command, positional, awaiting };
}

function optionsOf(program: Command, command: Command | undefined): readonly Option[] {
  return [...(command?.options ?? []), ...program.options];
}

function flagsOf(program: Command, command: Command | undefined): Candidates {
  const options = [...optionsOf(program, command).filter(({ hidden }) => !hidden)];
  const words = options.map(({ long, short, description }) => ({ word: long ?? short ?? "", description }));
  return { words: [...words, { word: "--help", description: "display help for command" }], files: false };
}

function commandsOf(program: Command): Candidates {
  const visible = program.createHelp().visibleCommands(program);
  return {
    words: visible.map((each) => ({ word: each.name(), description: each.description() })),
    files: false,
  };
}

async function valuesOf(of: Option | Argument, known: KnownNames): Promise<Candidates> {
  if (of.argChoices !== undefined) return { words: of.argChoices.map((word) => ({ word })), files: false };
  const name = of.name();
  const names = "long" in of ? (name === "registry" ? await known.registries() : []) : [];
  if ("long" in of) return { words: names.map((word) => ({ word })), files: false };
  const services = SERVICE_ARGUMENTS.includes(name) ? await known.services() : [];
  return { words: services.map((word) => ({ word })), files: FILE_ARGUMENTS.includes(name) };
}

function startingWith(start: string, { words, files }: Candidates): Candidates {
  return { words: words.filter(({ word }) => word.startsWith(start)), files };
}
