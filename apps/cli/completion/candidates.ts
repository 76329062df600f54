import type { Argument, Command, Option } from "commander";

/** A word that completes the text at the cursor. */
export interface Candidate {
  word: string;
  description?: string;
}

/** The candidates, and whether the shell adds the names of files. */
interface Candidates {
  words: Candidate[];
  files: boolean;
}

/** Looks up the names that only the registry or the profiles file contains. */
interface KnownNames {
  services(): Promise<string[]>;
  /** Returns the revisions of a service, newest first. */
  revisions(service: string): Promise<Candidate[]>;
  registries(): Promise<string[]>;
}

const SERVICE_ARGUMENTS = ["service", "name", "target"];
const FILE_ARGUMENTS = ["file", "target"];
const REVISION_ARGUMENTS = ["revision", "from", "to", "if-revision"];

/**
 * Returns the candidates for the word at the cursor.
 * @param typed the words after the program's name; the cursor is in or after the last one
 */
export async function candidatesFor(
  program: Command,
  typed: readonly string[],
  known: KnownNames,
): Promise<Candidates> {
  const before = typed.slice(0, -1);
  const current = typed.at(-1) ?? "";
  const { command, positional, awaiting } = read(program, before);
  const [service] = positional;
  if (awaiting !== undefined) return startingWith(current, await valuesOf(awaiting, known, service));
  if (current.startsWith("-")) return startingWith(current, flagsOf(program, command));
  if (command === undefined) return startingWith(current, commandsOf(program));
  const { registeredArguments: all } = command;
  const argument = all[positional.length] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
  return startingWith(current, argument === undefined ? nothing : await valuesOf(argument, known, service));
}

const nothing: Candidates = { words: [], files: false };

/** Reads the words before the cursor: the command, its arguments, and the option whose value comes next. */
function read(program: Command, words: readonly string[]) {
  let command: Command | undefined;
  let awaiting: Option | undefined;
  const positional: string[] = [];
  for (const word of words) {
    if (awaiting !== undefined) awaiting = undefined;
    else if (word.startsWith("-")) {
      awaiting = optionsOf(program, command).find((each) => each.long === word && each.required);
    } else if (command !== undefined) positional.push(word);
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

/**
 * Returns the candidates for the value of an option or argument.
 * @param service the first positional argument before the cursor, or undefined if there is none
 */
async function valuesOf(
  of: Option | Argument,
  known: KnownNames,
  service: string | undefined,
): Promise<Candidates> {
  if (of.argChoices !== undefined) return { words: of.argChoices.map((word) => ({ word })), files: false };
  const name = of.name();
  if (REVISION_ARGUMENTS.includes(name)) {
    return { words: service === undefined ? [] : await known.revisions(service), files: false };
  }
  const names = "long" in of ? (name === "registry" ? await known.registries() : []) : [];
  if ("long" in of) return { words: names.map((word) => ({ word })), files: false };
  const services = SERVICE_ARGUMENTS.includes(name) ? await known.services() : [];
  return { words: services.map((word) => ({ word })), files: FILE_ARGUMENTS.includes(name) };
}

function startingWith(start: string, { words, files }: Candidates): Candidates {
  return { words: words.filter(({ word }) => word.startsWith(start)), files };
}
