import type { Argument, Command, Option } from "commander";
import { FILES } from "./scripts.ts";

/** A word that completes the text at the cursor. The word {@link FILES} stands for the names of files. */
export interface Candidate {
  word: string;
  description?: string;
}

/** Looks up the names that only the registry or the profiles file contains. */
interface KnownNames {
  services(): Promise<Candidate[]>;
  /** Returns the revisions of a service, newest first. */
  revisions(service: string): Promise<Candidate[]>;
  registries(): Promise<Candidate[]>;
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
): Promise<Candidate[]> {
  const current = typed.at(-1) ?? "";
  const { command, positional, awaiting } = read(program, typed.slice(0, -1));
  const found = async () => {
    if (awaiting !== undefined) return valuesOf(awaiting, known, positional[0]);
    if (current.startsWith("-")) return flagsOf(program, command);
    if (command === undefined) return commandsOf(program);
    const { registeredArguments: all } = command;
    const argument = all[positional.length] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
    return argument === undefined ? [] : valuesOf(argument, known, positional[0]);
  };
  return (await found()).filter(({ word }) => word === FILES || word.startsWith(current));
}

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

function flagsOf(program: Command, command: Command | undefined): Candidate[] {
  const options = optionsOf(program, command).map(({ long, short, description }) => ({
    word: long ?? short ?? "",
    description,
  }));
  return [...options, { word: "--help", description: "display help for command" }];
}

function commandsOf(program: Command): Candidate[] {
  const visible = program.createHelp().visibleCommands(program);
  return visible.map((each) => ({ word: each.name(), description: each.description() }));
}

/**
 * Returns the candidates for the value of an option or argument.
 * @param service the first positional argument before the cursor, or undefined if there is none
 */
async function valuesOf(
  of: Option | Argument,
  known: KnownNames,
  service: string | undefined,
): Promise<Candidate[]> {
  if (of.argChoices !== undefined) return of.argChoices.map((word) => ({ word }));
  const name = of.name();
  if (REVISION_ARGUMENTS.includes(name)) return service === undefined ? [] : known.revisions(service);
  if ("long" in of) return name === "registry" ? known.registries() : [];
  const services = SERVICE_ARGUMENTS.includes(name) ? await known.services() : [];
  return FILE_ARGUMENTS.includes(name) ? [...services, { word: FILES }] : services;
}
