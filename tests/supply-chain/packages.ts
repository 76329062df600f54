import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ROOT } from "../support/root.ts";

/** The fields of a `package.json` that this module reads. */
const Manifest = Type.Object({
  name: Type.String(),
  version: Type.Optional(Type.String()),
  license: Type.Optional(Type.Unknown()),
  licenses: Type.Optional(Type.Unknown()),
  private: Type.Optional(Type.Boolean()),
  dependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
  devDependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
  optionalDependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
});

/** An installed package with its dependencies. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** The license as an SPDX expression; null if the package names no license. */
  readonly license: string | null;
  /** Whether the package belongs to this repository. */
  readonly own: boolean;
  readonly folder: string;
  readonly needs: Package[];
}

/** Returns the shipped apps, with their dependencies but without development dependencies. */
export function shippedApps(): Package[] {
  const known = new Map<string, Package>();
  return readdirSync(join(ROOT, "apps"))
    .filter((app) => existsSync(join(ROOT, "apps", app, "package.json")))
    .map((app) => packageAt(join(ROOT, "apps", app), known));
}

/** Returns all direct and indirect dependencies of some packages, without packages of this repository. */
export function foreignPackages(from: readonly Package[]): Package[] {
  const seen = new Set<Package>();
  const visit = (each: Package) => {
    if (seen.has(each)) return;
    seen.add(each);
    each.needs.forEach(visit);
  };
  from.forEach(visit);
  return [...seen].filter(({ own }) => !own);
}

/** Returns all third-party packages that are installed for this repository, including development tools. */
export function installedPackages(): Package[] {
  const known = new Map<string, Package>();
  const roots = [ROOT, join(ROOT, "lib"), join(ROOT, "tests"), ...shippedApps().map(({ folder }) => folder)];
  return foreignPackages(roots.map((folder) => packageAt(folder, known, true)));
}

function packageAt(folder: string, known: Map<string, Package>, tools = false): Package {
  const found = known.get(folder);
  if (found !== undefined) return found;
  const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!Value.Check(Manifest, manifest))
    throw new Error(`${folder}/package.json is not a valid package manifest.`);
  const made: Package = {
    name: manifest.name,
    version: manifest.version ?? "0.0.0",
    license: licenseOf(manifest.license ?? manifest.licenses),
    own: !folder.includes("/node_modules/"),
    folder,
    needs: [],
  };
  known.set(folder, made);
  const { dependencies, optionalDependencies, devDependencies } = manifest;
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...(tools && devDependencies) });
  for (const name of names) {
    const needed = folderOf(name, folder);
    if (needed !== null) made.needs.push(packageAt(needed, known));
    // An optional dependency may be missing, such as a binary for another platform.
    else if (optionalDependencies?.[name] === undefined)
      throw new Error(`The dependency ${name} of ${made.name} is not installed.`);
  }
  return made;
}

/** The folders of this repository's packages that are not in `apps`, by name. */
const ELSEWHERE: Readonly<Record<string, string>> = { lib: "lib", client: "lib/client", tests: "tests" };

/**
 * Returns the folder of a package, from the nearest `node_modules` as the runtime does. Null if the package
 * is not installed.
 */
function folderOf(name: string, from: string): string | null {
  const own = /^@ostiary\/(.*)$/.exec(name)?.[1];
  if (own !== undefined) return join(ROOT, ELSEWHERE[own] ?? join("apps", own));
  for (let at = from; at.startsWith(ROOT); at = dirname(at)) {
    const folder = join(at, "node_modules", name);
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  return null;
}

/**
 * Returns the license that a manifest names, or null. Older manifests have an object with `type`, or a list
 * of such objects.
 */
function licenseOf(given: unknown): string | null {
  if (typeof given === "string") return given;
  if (Array.isArray(given)) return given.map(licenseOf).join(" OR ") || null;
  if (typeof given === "object" && given !== null && "type" in given) return licenseOf(given.type);
  return null;
}
