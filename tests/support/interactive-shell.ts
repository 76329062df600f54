import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leash } from "./services.ts";
import { waitFor } from "./wait-for.ts";

/** Shells as a person meets them: interactive, at a terminal, without personal settings. */
export const SHELLS: Record<string, string[]> = {
  bash: ["bash", "--norc", "--noprofile", "-i"],
  zsh: ["zsh", "-f", "-i"],
  dash: ["dash", "-i"],
};

/** The output of pasted commands: standard output, and everything else on the screen. */
export interface PasteResult {
  stdout: string;
  /** Prompts, the echo of the paste, standard error. */
  screen: string;
}

/** The terminal is wide, so that line editors do not break lines. */
const TERMINAL = { cols: 2_000, rows: 50 };
const PASTE_START = "\u001b[200~";
const PASTE_END = "\u001b[201~";
const FIRST_LINES_MS = 10_000;
const PASTE_MS = 60_000;

/**
 * Pastes `text` into an interactive shell at its own terminal, as terminals do: with carriage returns as line
 * ends. If the shell asked for bracketed paste and `bracketed` is set, it adds those marks.
 */
export async function pasteInto(
  shell: string[],
  text: string,
  { cwd, bracketed }: { cwd: string; bracketed: boolean },
): Promise<PasteResult> {
  const scratch = await mkdtemp(join(tmpdir(), "ostiary-shell-"));
  const out = join(scratch, "stdout");
  const decoder = new TextDecoder();
  let screen = "";
  const child = Bun.spawn(shell, {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: scratch, TERM: "xterm", PS1: "$ ", LC_ALL: "C.UTF-8" },
    terminal: {
      ...TERMINAL,
      data: (_, bytes) => {
        screen += decoder.decode(bytes, { stream: true });
      },
    },
  });
  const held = leash();
  held.process(child.pid);
  try {
    // Prompts and the line editor write to the terminal, commands to the file.
    child.terminal?.write(`exec >'${out}'\rcd .\r`);
    await waitFor(() => Bun.file(out).exists(), { timeout_ms: FIRST_LINES_MS, what: "A shell" });
    const lines = text.replaceAll("\n", "\r");
    const marked = bracketed && screen.includes("\u001b[?2004h");
    child.terminal?.write(marked ? `${PASTE_START}${lines}${PASTE_END}\r` : `${lines}\r`);
    child.terminal?.write("exit\r");
    await Promise.race([child.exited, Bun.sleep(PASTE_MS)]);
    return { stdout: await Bun.file(out).text(), screen: Bun.stripANSI(screen) };
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    held.release(child.pid);
    child.terminal?.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
