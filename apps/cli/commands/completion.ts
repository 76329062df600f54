import { Revisions, Services } from "@ostiary/lib/contracts/registry-api";
import { Argument, type Command } from "commander";
import { type Candidate, candidatesFor } from "../completion/candidates.ts";
import { SHELLS, type Shell, scripts } from "../completion/scripts.ts";
import { pathTo, type RegistryClient } from "../registry-client.ts";
import { onOneLine } from "../terminal.ts";
import type { Run, Setting } from "./command.ts";

/** The timeout of a completion, short because a person at a prompt waits. */
const TIMEOUT_S = 2;

/**
 * Adds `completion SHELL`, which writes a shell's completion script, and the hidden command that the script
 * calls.
 */
export function addCompletion(program: Command, run: Run, { terminal, registryNames }: Setting): void {
  program
    .command("completion")
    .description("Print the script that lets a shell complete commands, flags and services of `ostiary`")
    .addArgument(new Argument("<shell>", "the shell to complete in").choices(SHELLS))
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
    .argument("[words...]", "the words after the program's name; the cursor is in the last word")
    .action(async (typed: string[]) => {
      program.setOptionValue("timeout", TIMEOUT_S);
      program.setOptionValue("registry", registryIn(typed));
      const found = await candidatesFor(program, typed, {
        services: () =>
          candidatesOrNone((found) => run(async ({ registry }) => found(await servicesOf(registry)))),
        revisions: (service) =>
          candidatesOrNone((found) =>
            run(async ({ registry }) => found(await revisionsOf(registry, service))),
          ),
        registries: () =>
          candidatesOrNone(async (found) => found((await registryNames()).map((word) => ({ word })))),
      });
      for (const { word, description } of found) {
        terminal.write(
          description ? `${word}\t${onOneLine(description.replace(/\s+/g, " "))}\n` : `${word}\n`,
        );
      }
    });
}

function registryIn(words: readonly string[]): string | undefined {
  const index = words.findIndex((word) => /^--registry(=|$)/.test(word));
  return words[index] === "--registry" ? words[index + 1] : words[index]?.slice("--registry=".length);
}

async function servicesOf(registry: RegistryClient): Promise<Candidate[]> {
  const { services } = await registry.call(Services, pathTo("services"));
  return Object.keys(services).map((word) => ({ word }));
}

async function revisionsOf(registry: RegistryClient, service: string): Promise<Candidate[]> {
  const { revisions } = await registry.call(Revisions, pathTo("services", service, "revisions"));
  return revisions.map(({ revision, action, created_at }) => ({
    word: String(revision),
    description: `${action} ${created_at}`,
  }));
}

/**
 * Returns the candidates that `lookUp` passes to its argument, or none if it fails: an error message would break the
 * line that a person types.
 */
async function candidatesOrNone(
  lookUp: (found: (candidates: Candidate[]) => void) => Promise<void>,
): Promise<Candidate[]> {
  let candidates: Candidate[] = [];
  await lookUp((found) => {
    candidates = found;
  }).catch(() => {});
  return candidates;
}
