import { Revisions, Services } from "@ostiary/lib/contracts/registry-api";
import { Argument, type Command } from "commander";
import { type Candidate, candidatesFor } from "../completion/candidates.ts";
import { FILES, SHELLS, type Shell, scripts } from "../completion/scripts.ts";
import { pathTo } from "../registry-client.ts";
import type { Run, Setting } from "./command.ts";

/** The timeout of a completion, short because a person at a prompt waits. */
const TIMEOUT_S = 2;

/**
 * Adds `completion SHELL`, which writes a shell's completion script, and the hidden command that the script
 * calls.
 */
export function addCompletion(program: Command, run: Run, { terminal, registryNames }: Setting): void {
  const shell = new Argument("<shell>", "the shell to complete in").choices(SHELLS);
  program
    .command("completion")
    .description("Print the script that lets a shell complete commands, flags and services of `ostiary`")
    .addArgument(shell)
    .addHelpText(
      "after",
      `
Examples:
  $ source <(ostiary completion bash)       in ~/.bashrc; the same with zsh in ~/.zshrc
  $ ostiary completion fish | source        in ~/.config/fish/config.fish`,
    )
    .action((name: Shell) => terminal.write(scripts[name]));
  program
    .command("complete", { hidden: true })
    .addArgument(shell)
    .argument("[words...]", "the words after the program's name; the cursor is in the last word")
    .action(async (_: Shell, typed: string[]) => {
      program.setOptionValue("timeout", TIMEOUT_S);
      program.setOptionValue("registry", registryIn(typed));
      const found = await candidatesFor(program, typed, {
        services: () => quietly(() => serviceNames(run)),
        revisions: (service) => quietly(() => revisionsOf(run, service)),
        registries: () => quietly(registryNames),
      });
      const lines = found.words.map(({ word, description }) =>
        [word, ...(description ? [description.replace(/\s+/g, " ")] : [])].join("\t"),
      );
      for (const line of [...lines, ...(found.files ? [FILES] : [])]) terminal.write(`${line}\n`);
    });
}

function registryIn(words: readonly string[]): string | undefined {
  const index = words.findIndex((word) => /^--registry(=|$)/.test(word));
  return words[index] === "--registry" ? words[index + 1] : words[index]?.slice("--registry=".length);
}

async function serviceNames(run: Run): Promise<string[]> {
  let names: string[] = [];
  await run(async ({ registry }) => {
    const { services } = await registry.ask(Services, pathTo("services"));
    names = Object.keys(services);
  });
  return names;
}

async function revisionsOf(run: Run, service: string): Promise<Candidate[]> {
  let candidates: Candidate[] = [];
  await run(async ({ registry }) => {
    const { revisions } = await registry.ask(Revisions, pathTo("services", service, "revisions"));
    candidates = revisions.map(({ revision, action, created_at }) => ({
      word: String(revision),
      description: `${action} ${created_at}`,
    }));
  });
  return candidates;
}

/** Returns `names()`, or no names if the lookup fails: an error message would break the line that a person types. */
async function quietly<Found>(names: () => Promise<Found[]>): Promise<Found[]> {
  try {
    return await names();
  } catch {
    return [];
  }
}
