import { expect, test } from "bun:test";
import { join } from "node:path";
import { browserPath, sharedBrowser } from "../../support/pages/swagger-page.ts";
import { ROOT } from "../../support/root.ts";
import { type Run, run } from "../conformance/clients/services.ts";
import { installedClient } from "./bed.ts";

const COMPILER = join(ROOT, "node_modules/typescript/bin/tsc");

/**
 * Runs the function `main` of a module, which imports the client, and returns its result. A browser runs it in
 * the page at `pageUrl`.
 */
type Runner = (source: string, pageUrl: string) => Promise<unknown>;

interface Runtime {
  readonly name: string;
  readonly isMissing: boolean;
  readonly run: Runner;
}

const deno = Bun.which("deno");
const node = Bun.which("node");
let programs = 0;

/** Runs a test in each runtime, and skips the runtimes that are not installed. */
export function inEachRuntime(name: string, check: (runtime: Runtime) => Promise<void>): void {
  for (const runtime of RUNTIMES) {
    const reason = runtime.isMissing ? ": it is not installed" : "";
    test.skipIf(runtime.isMissing)(`${name}, in ${runtime.name}${reason}`, () => check(runtime));
  }
}

const RUNTIMES: readonly Runtime[] = [
  {
    name: "Bun",
    isMissing: false,
    async run(source) {
      const { folder, name } = await program(source);
      return resultOf(await run([process.execPath, `${name}.ts`], { cwd: folder }));
    },
  },
  {
    name: "Node, compiled strictly",
    isMissing: node === null,
    async run(source) {
      const { folder, name } = await program(source);
      await compile(folder, name);
      return resultOf(await run([node ?? "", join("out", `${name}.js`)], { cwd: folder }));
    },
  },
  {
    name: "Deno (npm: deno)",
    isMissing: deno === null,
    async run(source) {
      const { folder, name } = await program(source);
      const rights = ["--allow-net", "--no-prompt", "--node-modules-dir=manual"];
      return resultOf(await run([deno ?? "", "run", ...rights, `${name}.ts`], { cwd: folder }));
    },
  },
  { name: "a page", isMissing: browserPath === undefined, run: runInPage },
];

/** Writes a program that prints the result of `main`, into the folder where the client is installed. */
async function program(source: string): Promise<{ folder: string; name: string }> {
  const folder = await installedClient();
  const name = `program-${++programs}`;
  await Bun.write(
    join(folder, `${name}.ts`),
    `${source}\nconsole.log("result " + JSON.stringify(await main()));\n`,
  );
  return { folder, name };
}

async function compile(folder: string, name: string): Promise<void> {
  const settings = {
    compilerOptions: {
      target: "ES2022",
      module: "NodeNext",
      lib: ["ES2024", "DOM", "DOM.AsyncIterable"],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      outDir: "out",
    },
    files: [`${name}.ts`],
  };
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const result = await run([process.execPath, COMPILER, "--project", "."], { cwd: folder });
  expect(result).toEqual({ code: 0, stdout: "", stderr: "" });
}

function resultOf({ code, stdout, stderr }: Run): unknown {
  const [, result] = /^result (.*)$/m.exec(stdout) ?? [];
  if (code !== 0 || result === undefined) throw new Error(`${stdout}\n${stderr}`);
  return JSON.parse(result);
}

async function runInPage(source: string, pageUrl: string): Promise<unknown> {
  const folder = await installedClient();
  const entry = join(folder, `program-${++programs}.ts`);
  await Bun.write(entry, `${source}\nObject.assign(globalThis, { main });\n`);
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser", format: "iife" });
  const page = await (await sharedBrowser()).newPage();
  try {
    await page.goto(pageUrl);
    await page.evaluate((await outputs[0]?.text()) ?? "");
    return await page.evaluate("globalThis.main()");
  } finally {
    await page.close();
  }
}
