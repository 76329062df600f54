import { Services } from "@ostiary/lib/contracts/registry-api";
import { Argument, type Command } from "commander";
import { candidatesFor } from "../completion/candidates.ts";
import { FILES, SHELLS, type Shell, scripts } from "../completion/scripts.ts";
import { pathTo } from "../registry-client.ts";
import type { Run, Setting } from "./command.ts";

/** Nobody waits longer for a word at a prompt. */
const TIMEOUT_S = 2;

/** `completion SHELL`: the script that completes the words of a command line, and what the script asks. */
export function addCompletion(program: Command, run: Run, { terminal, registryNames }: Setting): void {
  const shell = new Argument("<shell>", "the shell that is to complete").choices(SHELLS);
  program
    .command("completion")
    .description("Write the script by which a shell completes commands, flags and services of `ostiary`")
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
    .argument("[words...]", "what is typed behind the program's name; the cursor is in the last word")
    .action(async (name: Shell, words: string[]) => {
      const typed = name === "bash" ? withoutBreaks(words) : words;
      program.setOptionValue("timeout", TIMEOUT_S);
      program.setOptionValue("registry", registryIn(typed));
      const found = await candidatesFor(program, typed, {
        services: () => quietly(() => serviceNames(run)),
        registries: () => quietly(registryNames),
      });
      // bash replaces what stands behind the =
      const start = name === "bash" ? /^--[^=]*=/ : /^(?!)/;
      const lines = found.words.map(({ word, description }) =>
        [word.replace(start, ""), ...(description ? [description.replace(/\s+/g, " ")] : [])].join("\t"),
      );
      for (const line of [...lines, ...(found.files ? [FILES] : [])]) terminal.write(`${line}\n`);
    });
}

/** bash takes `--output=js` for three words. */
function withoutBreaks(words: readonly string[]): string[] {
  const whole: string[] = [];
  for (const [index, word] of words.entries()) {
    const isValue = words[index - 1] === "=" && words[index - 2]?.startsWith("--");
    if (isValue || (word === "=" && words[index - 1]?.startsWith("--"))) whole.push(`${whole.pop()}${word}`);
    else whole.push(word);
  }
  return whole;
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

/** Whoever types learns nothing from a message in the middle of the line. */
async function quietly(names: () => Promise<string[]>): Promise<string[]> {
  try {
    return await names();
  } catch {
    return [];
  }
}
