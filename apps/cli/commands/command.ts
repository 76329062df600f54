import { parseRevision, revisionTag } from "@ostiary/lib/contracts/registry-api";
import { METHODS } from "@ostiary/lib/domain/routes";
import type { NoteKey } from "@ostiary/lib/domain/tlog";
import { readLogKey } from "@ostiary/lib/verification";
import { InvalidArgumentError } from "commander";
import type { Output } from "../output.ts";
import type { RegistryClient } from "../registry-client.ts";
import type { Terminal } from "../terminal.ts";

/** The objects that a command works with, created when the command runs. */
export interface CommandContext {
  registry: RegistryClient;
  output: Output;
  terminal: Terminal;
  /** The command that the person typed, such as `bun cli`. */
  programName: string;
}

/** Runs the work of a command that calls a registry, with the connection that its options name. */
export type Run = (work: (context: CommandContext) => Promise<void>) => Promise<void>;

/** The context of commands that call no registry. */
export interface Setting {
  terminal: Terminal;
  /** Returns the names that `--registry` accepts. */
  registryNames(): Promise<string[]>;
}

export function revisionArgument(text: string): number {
  const revision = parseRevision(text);
  if (revision === null) throw new InvalidArgumentError("A revision is a whole number from 1.");
  return revision;
}

/** Returns the headers of a write that succeeds only if `revision` is current, or no headers for undefined. */
export function ifMatch(revision: number | undefined): Record<string, string> {
  return revision === undefined ? {} : { "If-Match": revisionTag(revision) };
}

/** Parses an HTTP method in upper or lower case. */
export function methodArgument(text: string): string {
  const method = METHODS.find((each) => each === text.toUpperCase());
  if (method === undefined) throw new InvalidArgumentError(`Use one of ${METHODS.join(", ")}.`);
  return method;
}

/** Parses the path of a request. Accepts a whole URL too. */
export function pathArgument(text: string): string {
  if (text.startsWith("/")) return text;
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null)
    throw new InvalidArgumentError("Give a path that starts with /, or an http:// or https:// URL.");
  return url.pathname + url.search;
}

/** Returns a parser of whole numbers from 1 to `max`. */
export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d*$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`Give a whole number from 1 to ${max}.`);
  };
}

/** Adds a verifier key to those of earlier options. */
export function keyArgument(
  text: string,
  before: readonly NoteKey[] | null = null,
): readonly NoteKey[] | null {
  const key = readLogKey(text);
  if (key === null) throw new InvalidArgumentError("Give the verifier key of a log: name+hash+key.");
  return [...(before ?? []), key];
}

/** Parses a timeout in seconds. */
export const timeoutArgument = wholeNumber(9_999);
