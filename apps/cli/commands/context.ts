import type { Output } from "../output.ts";
import type { Registry } from "../registry.ts";

/** What a command works with, made when it runs. */
export interface CommandContext {
  registry: Registry;
  output: Output;
}

/** Runs a command's work with its context. */
export type Run = (work: (context: CommandContext) => Promise<void>) => Promise<void>;
