import { join } from "node:path";

/** What the sources say to people, read from their text: `…` stands for what is only known when it is said. */

const ROOT = join(import.meta.dir, "../..");

async function textOf(...patterns: string[]): Promise<string> {
  const found = await Promise.all(
    patterns.map((pattern) => Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT }))),
  );
  const files = found
    .flat()
    .filter((file) => !file.includes("node_modules"))
    .toSorted();
  return (await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()))).join("\n");
}

/** A string or template of the language, with templates inside it one level deep. */
const LITERAL = /"((?:[^"\\\n]|\\.)+)"|`((?:[^`\\$\n]|\\.|\$\{(?:[^{}`]|`[^`]*`|\{[^}]*\})*\})+)`/g;

function literalsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return [...code.matchAll(LITERAL)].map(([, text, template]) =>
    (text ?? template ?? "").replace(/\$\{(?:[^{}`]|`[^`]*`|\{[^}]*\})*\}/g, "…").replaceAll('\\"', '"'),
  );
}

/** Sentences: why a store can not be used at boot, and which folder. */
export async function bootFailures(): Promise<string[]> {
  const source = await textOf(
    "lib/runtime/stores/*/boot-failure.ts",
    "lib/runtime/stores/tls-fault.ts",
    "lib/runtime/stores/database/{migrations,data-folder,open}.ts",
    "apps/platform/data-directory.ts",
  );
  return unique(literalsOf(source).filter((text) => /^\S+ .*\.$/.test(text))).map((text) =>
    text.replaceAll(/\{[a-z]+\}/g, "…"),
  );
}

/** Why a variable is refused, beyond its own rule, which the table of a README has. */
export async function refusalsOfVariables(): Promise<string[]> {
  const sources = await textOf(
    "apps/*/config.ts",
    "apps/*/*/config.ts",
    "lib/runtime/{config,service}/*.ts",
    "apps/audit/checkpoints/signing-key.ts",
  );
  return unique(
    literalsOf(sources).filter((text) => /^(is|are|and|holds|names|must|can|has) .*\.$/.test(text)),
  );
}

/** What is written to the log as a warning or an error, with what a table of routes has to say of itself. */
export async function logWarnings(): Promise<string[]> {
  const source = await textOf("{apps,lib}/**/*.ts");
  const calls = [...source.matchAll(/\blog\??\.(?:warn|error)\(/g)].map(({ index, 0: head }) =>
    callFrom(source, index + head.length),
  );
  const handedOn = literalsOf(await textOf("lib/domain/routes/table.ts")).filter((text) =>
    text.includes(" is left out: "),
  );
  return unique([...calls.flatMap(literalsOf), ...handedOn].filter((text) => /^\S+ \S+/.test(text)));
}

/** The exit codes that the sources name. */
export async function exitCodes(): Promise<string[]> {
  const source = await textOf("{apps,lib}/**/*.ts");
  return unique([...source.matchAll(/\bEXIT_[A-Z]+ = (\d+);/g)].map(([, code = ""]) => code));
}

function callFrom(source: string, start: number): string {
  let depth = 1;
  let end = start;
  for (; depth > 0 && end < source.length; end += 1) {
    if (source[end] === "(") depth += 1;
    if (source[end] === ")") depth -= 1;
  }
  return source.slice(start, end);
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}
