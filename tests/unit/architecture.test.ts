/** Checks the import rules of `.github/ARCHITECTURE.md` on the source files of the repository. */
import { describe, expect, test } from "bun:test";
import { basename, dirname, join, normalize } from "node:path";
import { ROOT } from "../support/root.ts";

const files = (
  await Array.fromAsync(new Bun.Glob("{apps,lib,tests}/**/*.{ts,tsx}").scan({ cwd: ROOT }))
).filter((file) => !file.includes("node_modules"));
/** The text of each source file. */
const texts = new Map(
  await Promise.all(files.map(async (file) => [file, await Bun.file(join(ROOT, file)).text()] as const)),
);
const exportsOfLib: Record<string, string> = (await Bun.file(join(ROOT, "lib/package.json")).json()).exports;

const exportsOfClient: Record<string, string> = (await Bun.file(join(ROOT, "lib/client/package.json")).json())
  .exports;

const IMPORT = /^(?:import|export)\s(?:[^"';]*?\sfrom\s)?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

/**
 * The imports of each file, type imports included. Files of the repository are paths from its root, and other
 * modules are package names.
 */
const imports = new Map(
  await Promise.all([...texts].map(async ([file, text]) => [file, await importsOf(file, text)] as const)),
);

async function importsOf(file: string, text: string): Promise<string[]> {
  const specifiers = [...text.matchAll(IMPORT)].map(([, statement, call]) => statement ?? call ?? "");
  return Promise.all(specifiers.map((specifier) => resolveImport(file, specifier)));
}

async function resolveImport(file: string, specifier: string): Promise<string> {
  if (specifier.startsWith(".")) return normalize(join(dirname(file), specifier));
  const match = specifier.match(/^@ostiary\/([a-z]+)(\/.*)?$/);
  if (!match) return specifier;
  const [, name, path = ""] = match;
  if (name === "client") return join("lib/client", exportsOfClient[`.${path}`] ?? `missing${path}`);
  if (name === "lib") return join("lib", exportsOfLib[`.${path}`] ?? `missing${path}`);
  const { exports } = await Bun.file(join(ROOT, "apps", `${name}`, "package.json")).json();
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

/** Returns the files among `paths` whose text matches `pattern`. */
function filesWith(pattern: RegExp, paths: RegExp): string[] {
  return [...texts].flatMap(([file, text]) => (paths.test(file) && pattern.test(text) ? [file] : [])).sort();
}

/** The layers of `lib`, lowest first. A layer may import itself and lower layers only. */
const layers = [
  "client",
  "domain",
  "contracts",
  "verification",
  "openapi",
  "edge-description",
  "page",
  "async",
  "runtime",
];

/** Returns the import cycles, each as a path of files that ends at its first file. */
function importCycles(): string[] {
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

/** Matches a comment, a string, a template or an identifier. The group captures only identifiers. */
const TOKEN = /\/\/.*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\b([a-z]\w*)/g;

/** Returns the snake_case identifiers that a source also has in camelCase, or that mix both cases. */
function secondSpellings(source: string): string[] {
  const names = new Set([...source.matchAll(TOKEN)].flatMap(([, name]) => name ?? []));
  return [...names].filter((name) => {
    const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    return camel !== name && (names.has(camel) || /[A-Z]/.test(name));
  });
}

/** The identifiers with two spellings that a third party or a wire name requires, and the reasons. */
const ALLOWED_SPELLINGS = {
  "apps/cli/commands/apply.ts: dry_run": "commander names the value of --dry-run dryRun",
  "apps/gateway/edge/overload.ts: connections_max": "a field of a log line, beside the option",
  "apps/gateway/edge/overload.ts: descriptors_max": "a field of a log line, beside the reading",
  "apps/gateway/edge/overload.ts: memory_bytes": "a field of a log line, beside the reading",
  "apps/gateway/edge/overload.ts: memory_bytes_max": "a field of a log line, beside the option",
  "apps/gateway/wire.ts: counter_store": "a readiness check on the wire, beside the store that it checks",
  "apps/registry/app.ts: route_store": "a readiness check on the wire, beside the store that it checks",
  "lib/runtime/telemetry/exported-traces.ts: span_id": "OpenTelemetry names its own field spanId",
  "lib/runtime/telemetry/exported-traces.ts: trace_id": "OpenTelemetry names its own field traceId",
};

/** The files with timers of their own, and the reasons. */
const OWN_TIMERS = {
  "apps/gateway/upstream/websocket-tunnel.ts": "each message refreshes the timer of an idle tunnel",
  "lib/async/clock.ts": "the system clock",
  "lib/runtime/telemetry/line-blocks.ts": "an interval that does not keep the process running",
  "lib/runtime/telemetry/process-metrics.ts": "an interval that does not keep the process running",
};

describe("the import graph", () => {
  test("no app except the platform imports another app", () => {
    const between = edges(/^apps\/(?!platform)/, /^apps\//, (file, target) => appOf(file) === appOf(target));
    expect(between).toEqual([]);
  });

  test("the library imports no app and no test", () => {
    expect(edges(/^lib\//, /^(apps|tests)\//)).toEqual([]);
  });

  test("no app imports a test", () => {
    expect(edges(/^apps\//, /^tests\//)).toEqual([]);
  });

  test("pages use no server code: no lib/async, no lib/runtime, no Bun and no Node", () => {
    const servers = /^(lib\/(async|runtime)\/|bun|node:|elysia|drizzle-orm|postgres|pino)/;
    const pages = /^(apps\/console|apps\/portal\/page|lib\/page)\//;
    expect(edges(pages, servers)).toEqual([]);
    expect(filesWith(/\b(Bun|Buffer|process)\./, pages)).toEqual([]);
  });

  test("a layer of the library imports only itself and lower layers", () => {
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

  test("the lower layers import no package except TypeBox; proof code also imports four small packages", () => {
    const standards = /^(@noble\/hashes\/sha2\.js|canonicalize|jose)$/;
    const foreign = (file: string, target: string) =>
      /^lib\/|^@sinclair\/typebox/.test(target) ||
      (/^lib\/domain\/proof\//.test(file) && standards.test(target)) ||
      (/^lib\/verification\//.test(file) && target === "ulid");
    expect(edges(/^lib\/(domain|contracts|verification|openapi|edge-description)\//, /./, foreign)).toEqual(
      [],
    );
  });

  test("the executable loads the code of a program only when that program runs", async () => {
    const reached = new Set<string>();
    const follow = async (file: string): Promise<void> => {
      if (reached.has(file) || !files.includes(file)) return;
      reached.add(file);
      const { imports: loaded } = new Bun.Transpiler({ loader: "ts" }).scan(texts.get(file) ?? "");
      const now = loaded.filter(({ kind }) => kind === "import-statement");
      await Promise.all(now.map(async ({ path }) => follow(await resolveImport(file, path))));
    };
    await follow("apps/platform/ostiary.ts");
    const apps = new Set([...reached].filter((file) => file.startsWith("apps/")).map(appOf));
    expect([...apps].toSorted()).toEqual(["cli", "platform"]);
    const heavy = /^(apps\/platform\/(?!ostiary|programs)|lib\/runtime\/(http|service|stores|telemetry)\/)/;
    expect([...reached].filter((file) => heavy.test(file))).toEqual([]);
  });

  test("the published client imports its two dependencies and their types, and only pages and tests import it", () => {
    const own = /^lib\/client\/|^(openapi-fetch|openapi-typescript-helpers|standardwebhooks)$/;
    expect(edges(/^lib\/client\//, /./, (_, target) => own.test(target))).toEqual([]);
    const users = /^(lib\/client|apps\/portal\/page|tests)\//;
    expect(edges(/./, /^lib\/client\//, (file) => users.test(file))).toEqual([]);
  });

  test("has no cycles", () => {
    expect(importCycles()).toEqual([]);
  });

  test("only the database adapters and sql files import drizzle", () => {
    const allowed =
      /^(lib\/runtime\/stores\/database\/|apps\/[a-z]+\/(.*\/)?[a-z-]*(sql|schema|tables)\.ts$|tests\/)/;
    expect(edges(/./, /^drizzle-orm/, (file) => allowed.test(file))).toEqual([]);
  });

  test("a package exports only files that other packages import: tests import the rest by path", async () => {
    const unused: string[] = [];
    for (const manifest of [
      ...new Bun.Glob("apps/*/package.json").scanSync({ cwd: ROOT }),
      "lib/package.json",
    ]) {
      const own = dirname(manifest);
      const { exports = {} } = await Bun.file(join(ROOT, manifest)).json();
      const targets = Object.values<string>(exports).map((path) => join(own, path));
      const elsewhere = (target: string) =>
        edges(/^(apps|lib)\//, /./, (file, each) => each !== target || file.startsWith(`${own}/`));
      unused.push(...targets.filter((target) => !target.includes("*") && elsewhere(target).length === 0));
    }
    expect(unused).toEqual([]);
  });

  test("every file is imported by another file or is an entry point", () => {
    const entry =
      /(\/(main\.tsx?|ostiary\.ts)|\.test\.ts|\.d\.ts|\/preload\.ts|\/(provision|verify|write-client-types|write-schema)\.ts|tests\/nightly\/bench\/[a-z-]+\.ts|tests\/pictures\/[a-z-]+\.ts|tests\/support\/[a-z]+\/[a-z-]+-(process|worker)\.ts|apps\/portal\/page\/[a-z/-]+\/worker\.ts)$/;
    const imported = new Set([...imports.values()].flat());
    const published = Object.values(exportsOfClient).map((path) => join("lib/client", path));
    const orphans = files.filter(
      (file) => !entry.test(file) && !imported.has(file) && !published.includes(file),
    );
    expect(orphans.filter((file) => !/^apps\/[a-z]+\/wire\.ts$/.test(file))).toEqual([]);
  });
});

describe("the sources", () => {
  test("no name of a file occurs more than twice, so that a search for it finds it", () => {
    const COMMON = ["app.ts", "config.ts", "index.ts", "main.ts", "run.ts", "wire.ts"];
    const named = Object.groupBy(
      files.filter((file) => /^(apps|lib)\//.test(file)),
      (file) => basename(file),
    );
    const repeated = Object.entries(named).filter(([, same = []]) => same.length > 2);
    expect(repeated.map(([name]) => name).filter((name) => !COMMON.includes(name))).toEqual([]);
  });

  test("a file of apps or lib spells an identifier in one way", () => {
    const found = [...texts].flatMap(([file, text]) =>
      /^(apps|lib)\//.test(file) ? secondSpellings(text).map((name) => `${file}: ${name}`) : [],
    );
    expect(found.toSorted()).toEqual(Object.keys(ALLOWED_SPELLINGS).toSorted());
  });

  test("services and the library take time and timers from lib/async", () => {
    const own = /\b(setTimeout|setInterval|Date\.now|performance\.now|Bun\.sleep)\(|timers\/promises/;
    const sources = /^(apps\/(audit|gateway|identity|registry)\/|lib\/(?!page\/|client\/))/;
    expect(filesWith(own, sources)).toEqual(Object.keys(OWN_TIMERS));
  });

  test("no file of SQL opens a transaction", () => {
    expect(filesWith(/\.transaction\(/, /^apps\/.*sql\.ts$/)).toEqual([]);
  });

  test("only listeners.ts opens ports", () => {
    expect(filesWith(/Bun\.(serve|listen)\b/, /^(apps|lib)\//)).toEqual(["lib/runtime/service/listeners.ts"]);
  });

  test("only orm.ts and prepared.ts execute SQL directly", () => {
    expect(filesWith(/\.execute\(/, /^(apps|lib)\//)).toEqual([
      "lib/runtime/stores/database/orm.ts",
      "lib/runtime/stores/database/prepared.ts",
    ]);
  });

  test("only main files and tests read environment variables", () => {
    const allowed = /(\/(main|ostiary)\.ts|^tests\/)/;
    expect(filesWith(/process\.env/, /./).filter((file) => !allowed.test(file))).toEqual([]);
  });
});
