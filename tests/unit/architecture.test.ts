import { describe, expect, test } from "bun:test";
import { dirname, join, normalize } from "node:path";

/** The rules of the house (.github/ARCHITECTURE.md), checked on the real import graph. */
const root = join(import.meta.dir, "../..");
const files = (
  await Array.fromAsync(new Bun.Glob("{apps,lib,tests}/**/*.{ts,tsx}").scan({ cwd: root }))
).filter((file) => !file.includes("node_modules"));
const exportsOfLib: Record<string, string> = (await Bun.file(join(root, "lib/package.json")).json()).exports;

const IMPORT = /^(?:import|export)\s(?:[^"';]*?\sfrom\s)?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** Each file with its imports, types included: own files as paths from the root, others by package name. */
const imports = new Map(await Promise.all(files.map(async (file) => [file, await importsOf(file)] as const)));

async function importsOf(file: string): Promise<string[]> {
  const source = await Bun.file(join(root, file)).text();
  const specifiers = [...source.matchAll(IMPORT)].map(([, statement, call]) => statement ?? call ?? "");
  return Promise.all(specifiers.map((specifier) => resolveImport(file, specifier)));
}

async function resolveImport(file: string, specifier: string): Promise<string> {
  if (specifier.startsWith(".")) return normalize(join(dirname(file), specifier));
  const match = specifier.match(/^@ostiary\/([a-z]+)(\/.*)?$/);
  if (!match) return specifier;
  const [, name, path = ""] = match;
  if (name === "lib") return join("lib", exportsOfLib[`.${path}`] ?? `missing${path}`);
  const { exports } = await Bun.file(join(root, "apps", `${name}`, "package.json")).json();
  return join("apps", `${name}`, exports?.[`.${path}`] ?? `missing${path}`);
}

function edges(
  from: RegExp,
  to: RegExp,
  except: (file: string, target: string) => boolean = () => false,
): string[] {
  return [...imports]
    .filter(([file]) => from.test(file))
    .flatMap(([file, targets]) =>
      targets
        .filter((target) => to.test(target) && !except(file, target))
        .map((target) => `${file} → ${target}`),
    );
}

/** The layers, from the bottom up. */
const layers = [
  "domain",
  "contracts",
  "verification",
  "openapi",
  "edge-description",
  "page",
  "async",
  "runtime",
];

/** Returns one path for each circle: a file that imports itself indirectly. */
function circles(): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) found.push([...path.slice(start), file].join(" → "));
    if (start >= 0 || done.has(file)) return;
    for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return found;
}

const appOf = (file: string) => file.split("/")[1];

describe("the import graph", () => {
  test("an app imports no other app, the platform alone composes", () => {
    const between = edges(/^apps\/(?!platform)/, /^apps\//, (file, target) => appOf(file) === appOf(target));
    expect(between).toEqual([]);
  });

  test("the library imports no app and no test", () => {
    expect(edges(/^lib\//, /^(apps|tests)\//)).toEqual([]);
  });

  test("no app imports a test", () => {
    expect(edges(/^apps\//, /^tests\//)).toEqual([]);
  });

  test("pages import nothing that runs on a server: no runtime of this repository, nothing of Bun", async () => {
    const servers = /^(lib\/(async|runtime)\/|bun|node:|elysia|drizzle-orm|postgres|pino)/;
    const pages = /^(apps\/console|apps\/portal\/page|lib\/page)\//;
    expect(edges(pages, servers)).toEqual([]);
    const sources = files.filter((file) => pages.test(file));
    const texts = await Promise.all(sources.map((file) => Bun.file(join(root, file)).text()));
    expect(sources.filter((_, index) => /\b(Bun|Buffer|process)\./.test(texts[index] ?? ""))).toEqual([]);
  });

  test("inside the library imports go down: runtime, async, page, edge-description, openapi, verification, contracts, domain", () => {
    const up = layers.flatMap((layer, index) =>
      edges(new RegExp(`^lib/${layer}/`), /^lib\//, (_, target) =>
        layers.slice(0, index + 1).some((below) => target.startsWith(`lib/${below}/`)),
      ),
    );
    expect(up).toEqual([]);
    expect(files.filter((file) => /^lib\//.test(file) && !layers.includes(file.split("/")[1] ?? ""))).toEqual(
      [],
    );
  });

  test("domain, contracts and descriptions import only TypeBox from outside, the proof also three standards", () => {
    const standards = /^(@noble\/hashes\/sha2\.js|canonicalize|jose)$/;
    const foreign = (file: string, target: string) =>
      /^lib\/|^@sinclair\/typebox/.test(target) ||
      (/^lib\/domain\/proof\//.test(file) && standards.test(target)) ||
      (/^lib\/verification\//.test(file) && target === "ulid");
    expect(edges(/^lib\/(domain|contracts|verification|openapi|edge-description)\//, /./, foreign)).toEqual(
      [],
    );
  });

  test("the executable loads the code of a program only when it is called", async () => {
    const reached = new Set<string>();
    const follow = async (file: string): Promise<void> => {
      if (reached.has(file) || !files.includes(file)) return;
      reached.add(file);
      const source = await Bun.file(join(root, file)).text();
      const { imports: loaded } = new Bun.Transpiler({ loader: "ts" }).scan(source);
      const now = loaded.filter(({ kind }) => kind === "import-statement");
      await Promise.all(now.map(async ({ path }) => follow(await resolveImport(file, path))));
    };
    await follow("apps/platform/ostiary.ts");
    const apps = new Set([...reached].filter((file) => file.startsWith("apps/")).map(appOf));
    expect([...apps].toSorted()).toEqual(["cli", "platform"]);
    const heavy = /^(apps\/platform\/(?!ostiary|programs)|lib\/runtime\/(http|service|stores|telemetry)\/)/;
    expect([...reached].filter((file) => heavy.test(file))).toEqual([]);
  });

  test("has no circles", () => {
    expect(circles()).toEqual([]);
  });

  test("only the database adapters and sql files import drizzle", () => {
    const allowed =
      /^(lib\/runtime\/stores\/database\/|apps\/[a-z]+\/(.*\/)?[a-z-]*(sql|schema|tables)\.ts$|tests\/)/;
    expect(edges(/./, /^drizzle-orm/, (file) => allowed.test(file))).toEqual([]);
  });

  test("every import leads to a file", async () => {
    const missing = edges(
      /./,
      /^(apps|lib|tests)\/.*/,
      (_, target) => files.includes(target) || /\.(json|css)$/.test(target),
    );
    expect(missing).toEqual([]);
  });

  test("every file is imported by another, or is an entry", () => {
    const entry =
      /(\/(main\.tsx?|ostiary\.ts)|\.test\.ts|\.d\.ts|\/preload\.ts|\/(provision|verify|covering)\.ts|tests\/bench\/[a-z-]+\.ts|tests\/pictures\/[a-z-]+\.ts|tests\/support\/[a-z-]+-(process|worker)\.ts|apps\/portal\/page\/[a-z/-]+\/worker\.ts)$/;
    const imported = new Set([...imports.values()].flat());
    const published = Object.values(exportsOfLib).map((path) => join("lib", path));
    const orphans = files.filter(
      (file) => !entry.test(file) && !imported.has(file) && !published.includes(file),
    );
    expect(orphans.filter((file) => !/^apps\/[a-z]+\/wire\.ts$/.test(file))).toEqual([]);
  });
});

describe("the top level", () => {
  test("holds what the architecture names and nothing else", async () => {
    const listed = Bun.spawnSync(["git", "ls-files"], { cwd: root }).stdout.toString().trim().split("\n");
    const top = new Set(
      listed.map((file) => file.split("/")[0] ?? "").filter((name) => !name.startsWith(".")),
    );
    const named = [
      "package.json",
      "bun.lock",
      "bunfig.toml",
      "tsconfig.json",
      "compose.yaml",
      "README.md",
      "LICENSE",
    ];
    const folders = ["apps", "lib", "drizzle", "seeds", "tests"];
    expect([...top].filter((name) => ![...named, ...folders].includes(name))).toEqual([]);
  });

  test("ports are opened in one place, which shares none by chance", async () => {
    const sources = files.filter((file) => !file.startsWith("tests/"));
    const opening = await Promise.all(
      sources.map(async (file) =>
        /Bun\.(serve|listen)\b/.test(await Bun.file(join(root, file)).text()) ? file : null,
      ),
    );
    expect(opening.filter((file) => file !== null).toSorted()).toEqual([
      "lib/runtime/service/listen.ts",
      "lib/runtime/service/ports.ts",
    ]);
  });

  test("SQL that is not drizzle's runs by `rows` alone, what drizzle built before by `prepared`", async () => {
    const sources = files.filter((file) => /^(apps|lib)\//.test(file));
    const running = await Promise.all(
      sources.map(async (file) =>
        /\.execute\(/.test(await Bun.file(join(root, file)).text()) ? file : null,
      ),
    );
    expect(running.filter((file) => file !== null).toSorted()).toEqual([
      "lib/runtime/stores/database/orm.ts",
      "lib/runtime/stores/database/prepared.ts",
    ]);
  });

  test("environment variables are read by main files and test support only", async () => {
    // Code samples are text that shows how others read their variables.
    const allowed = /(\/(main|ostiary|code-samples)\.ts|^tests\/)/;
    const readers = await Promise.all(
      files.map(async (file) =>
        (await Bun.file(join(root, file)).text()).includes("process.env") ? file : null,
      ),
    );
    expect(readers.filter((file) => file !== null && !allowed.test(file))).toEqual([]);
  });
});
