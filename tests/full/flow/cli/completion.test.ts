/** Tests of the completion scripts in each shell. `tests/app/cli/completion.test.ts` tests the suggested words. */
import { beforeAll, test } from "bun:test";
import { environmentOf, useCli } from "../../../app/cli/bed.ts";
import { service } from "../../../app/registry/bed.ts";
import { leash } from "../../../support/processes/clean-up-after-kill.ts";
import { pathWith, scriptOf } from "../../../support/processes/path-with.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

const { registry, file, directory } = useCli();

let env: Record<string, string> = {};
beforeAll(async () => {
  await registry.put("widgets", service("/widgets"));
  await file("my routes.yaml", "");
  const PATH = pathWith({ ostiary: scriptOf("apps/cli/main.ts") });
  env = { ...environmentOf(registry.url), PATH, HOME: directory(), TERM: "xterm" };
});

/** The typed keys and the text that the shell then shows. */
const CASES: [string, string][] = [
  ["ostiary appl\t", "ostiary apply "],
  ["ostiary delete widg\t", "ostiary delete widgets"],
  ["ostiary diff x --output mark\t", "--output markdown"],
  ["ostiary apply --dry\t", "--dry-run"],
  ["ostiary apply my\t", "my\\ routes.yaml"],
];
const CLEAR_LINE = "\u0015";

/** Removes colors, cursor movements and the bell from terminal output. */
function plain(screen: string): string {
  return Bun.stripANSI(screen).replaceAll("\u0007", "");
}

const SHELLS = { bash: ["bash", "--norc", "--noprofile", "-i"], zsh: ["zsh", "-f", "-i"] };

test.each(Object.entries(SHELLS).filter(([shell]) => Bun.which(shell) !== null))(
  "the completion script of %s completes commands, services, options and files",
  async (name, shell) => {
    const decoder = new TextDecoder();
    let screen = "";
    const child = Bun.spawn(shell, {
      cwd: directory(),
      env: { ...env, PS1: "ready> ", PROMPT: "ready> " },
      terminal: {
        cols: 200,
        data: (_, bytes) => {
          screen += decoder.decode(bytes, { stream: true });
        },
      },
    });
    leash().process(child.pid);
    try {
      child.terminal?.write(`source <(ostiary completion ${name}); echo set''up\n`);
      await waitFor(() => screen.includes("setup"), { what: `the script in ${name}` });
      for (const [keys, expected] of CASES) {
        screen = "";
        child.terminal?.write(keys);
        const what = `"${expected}" after ${JSON.stringify(keys)}`;
        await waitFor(() => plain(screen).includes(expected), { what });
        child.terminal?.write(CLEAR_LINE);
      }
    } finally {
      child.kill("SIGKILL");
      leash().release(child.pid);
      child.terminal?.close();
    }
  },
);
