import { parseRevision } from "@ostiary/lib/contracts/registry-api";
import { InvalidArgumentError } from "commander";
import type { Output } from "../output.ts";
import type { RegistryClient } from "../registry-client.ts";
import type { Terminal } from "../terminal.ts";

/** What a command works with, made when it runs. */
export interface CommandContext {
  registry: RegistryClient;
  output: Output;
  terminal: Terminal;
}

/** Runs a command's work with its context. */
export type Run = (work: (context: CommandContext) => Promise<void>) => Promise<void>;

export function revisionArgument(text: string): number {
  const revision = parseRevision(text);
  if (revision === null) throw new InvalidArgumentError("A revision is a whole number from 1.");
  return revision;
}

/** A path as a client would request it. */
export function pathArgument(text: string): string {
  if (!text.startsWith("/")) throw new InvalidArgumentError("A path starts with /.");
  return text;
}

/** A time to wait, in seconds. */
export function timeoutArgument(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError("It is a whole number from 1 to 9999.");
  return Number(text);
}
