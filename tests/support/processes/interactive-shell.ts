import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { waitFor } from "../time/wait-for.ts";
import { leash } from "./clean-up-after-kill.ts";

/** The commands of interactive shells without the user's settings, by name. */
export const SHELLS: Record<string, string[]> = {
  bash: ["bash", "--norc", "--noprofile", "-i"],
  zsh: ["zsh", "-f", "-i"],
  dash: ["dash", "-i"],
};

interface PasteResult {
  stdout: string;
  /** The text on the terminal: prompts, the echo of the pasted text and standard error. */
  screen: string;
}

/** The size of the terminal, which is so wide that line editors do not wrap lines. */
const TERMINAL = { cols: 2_000, rows: 50 };
const PASTE_START = "\u001b[200~";
const PASTE_END = "\u001b[201~";
const FIRST_LINES_MS = 10_000;
const PASTE_MS = 60_000;

/**
 * Pastes `text` into an interactive shell at its own terminal. It sends carriage returns as line ends, as
 * terminals do. With `bracketed`, it adds the marks of bracketed paste if the shell has requested them.
 */
export async function pasteInto(
  shell: string[],
  text: string,
  { cwd, bracketed }: { cwd: string; bracketed: boolean },
): Promise<PasteResult> {
  const scratch = temporaryFolder("shell");
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
    // From here, the standard output of commands goes to the file. Prompts and the echo stay on the terminal.
    child.terminal?.write(`exec >'${out}'\rcd .\r`);
    await waitFor(() => Bun.file(out).exists(), { timeoutMs: FIRST_LINES_MS, what: "the shell to start" });
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
  }
}
