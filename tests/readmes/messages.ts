/** Finds the messages in the sources. In a message, `…` stands for a part that varies. */
import { join } from "node:path";
import { textsIn } from "../support/documents/source-code.ts";
import { ROOT } from "../support/root.ts";

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

/** Returns the strings in a source. */
function literalsOf(source: string): string[] {
  return textsIn(".ts", source).strings.map(({ text }) => text.replaceAll('\\"', '"'));
}

/** Returns the messages about stores and folders that a service cannot use when it starts. */
export async function bootFailures(): Promise<string[]> {
  const source = await textOf(
    "lib/runtime/stores/*/boot-failure.ts",
    "lib/runtime/stores/tls-error.ts",
    "lib/runtime/stores/database/{migrations,data-folder,open}.ts",
    "apps/platform/data-directory.ts",
  );
  return unique(literalsOf(source).filter((text) => /^\S+ .*\.$/.test(text))).map((text) =>
    text.replaceAll(/\{[a-z]+\}/g, "…"),
  );
}

/** Returns the refusals of variables. Leaves out the rules of single variables, which the READMEs list. */
export async function refusalsOfVariables(): Promise<string[]> {
  const sources = await textOf(
    "apps/*/config.ts",
    "apps/*/*/config.ts",
    "lib/runtime/{config,service}/*.ts",
    "apps/audit/signing-key/key-file.ts",
  );
  return unique(
    literalsOf(sources).filter((text) =>
      /^(is|are|and|holds|names|must|can|cannot|has|needs|works) .*\.$/.test(text),
    ),
  );
}

/** Returns the messages of warnings and errors in the log, with the warnings that other modules word. */
export async function logWarnings(): Promise<string[]> {
  const source = await textOf("{apps,lib}/**/*.ts");
  const calls = [...source.matchAll(/\blog\??\.(?:warn|error)\(/g)].map(({ index, 0: head }) =>
    callFrom(source, index + head.length),
  );
  const handedOn = literalsOf(
    await textOf("lib/domain/routes/route-table.ts", "lib/runtime/config/misspelled-variables.ts"),
  ).filter((text) => / is left out: | is not a variable /.test(text));
  return unique([...calls.flatMap(literalsOf), ...handedOn].filter((text) => /^\S+ \S+/.test(text)));
}

/** Returns the exit codes that the sources define. */
export async function exitCodes(): Promise<string[]> {
  const source = await textOf("{apps,lib}/**/*.ts");
  return unique([...source.matchAll(/\b(?:EXIT_[A-Z]+|exitCode) = (\d+);/g)].map(([, code = ""]) => code));
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
