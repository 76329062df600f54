import { join } from "node:path";
import { ADMIN_TOKEN } from "./harness.ts";

const ROOT = join(import.meta.dir, "../../..");

export interface Run {
  exit_code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  input?: string;
  env?: Record<string, string>;
}

/** `bun cli` as an operator of the registry at `url` runs it. */
export class CommandLine {
  readonly #environment: () => Record<string, string>;

  /** @param url asked for at each run: the registry starts after this is made */
  constructor(url: () => string) {
    const { PATH = "", HOME = "" } = process.env;
    this.#environment = () => ({ PATH, HOME, REGISTRY_URL: url(), ADMIN_TOKEN });
  }

  /** Its output goes to no terminal. */
  async run(parameters: string[], { input = "", env = {} }: RunOptions = {}): Promise<Run> {
    const child = Bun.spawn([process.execPath, "apps/cli/main.ts", ...parameters], {
      cwd: ROOT,
      env: { ...this.#environment(), ...env },
      stdin: new TextEncoder().encode(input),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { exit_code: await child.exited, stdout, stderr };
  }

  /** On a terminal of its own, by `script`: what it showed there. */
  onTerminal(parameters: string[], env: Record<string, string> = {}): Promise<string> {
    const command = [process.execPath, "apps/cli/main.ts", ...parameters].join(" ");
    const child = Bun.spawn(["script", "-qec", command, "/dev/null"], {
      cwd: ROOT,
      env: { ...this.#environment(), TERM: "xterm", ...env },
      stdin: "ignore",
      stdout: "pipe",
    });
    return child.stdout.text();
  }
}
