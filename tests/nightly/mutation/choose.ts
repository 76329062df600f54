import { join } from "node:path";
import { Random } from "../../support/random.ts";
import { KINDS, type Site, sitesIn } from "./sites.ts";

export interface Mutation extends Site {
  /** The folder of the product, such as `apps/gateway`. */
  readonly folder: string;
  readonly path: string;
  readonly source: string;
}

const PRODUCT = new Bun.Glob("{apps,lib}/*/**/*.{ts,tsx}");
/** Files whose texts only people read, and the build of the executable. */
const NOT_MUTATED = /node_modules|\.d\.ts$|(operation-texts|messages|glossary)\.ts$|\/(build|tables)\//;
/** The share of a folder grows with the root of its number of sites, so that small folders get some too. */
const FOLDER_MIN = 2;

/** Returns the mutations of the files below `only`, by their folder. */
export async function allMutations(
  root: string,
  only: string,
): Promise<ReadonlyMap<string, readonly Mutation[]>> {
  const folders = new Map<string, Mutation[]>();
  for (const path of (await Array.fromAsync(PRODUCT.scan(root))).sort()) {
    if (NOT_MUTATED.test(path) || !path.startsWith(only)) continue;
    const source = await Bun.file(join(root, path)).text();
    const folder = path.split("/").slice(0, 2).join("/");
    const found = sitesIn(path, source).map((site) => ({ ...site, folder, path, source }));
    folders.set(folder, [...(folders.get(folder) ?? []), ...found]);
  }
  return new Map([...folders].filter(([, mutations]) => mutations.length > 0));
}

/** Chooses mutations by a seed: some in each folder, and of each kind as far as a folder has it. */
export function chosenFrom(
  folders: ReadonlyMap<string, readonly Mutation[]>,
  { seed, count }: { seed: number; count: number },
): Mutation[] {
  const random = new Random(seed);
  const weights = [...folders.values()].map(({ length }) => Math.sqrt(length));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const chosen = [...folders.values()].map((mutations, index) => {
    const share = Math.round(((weights[index] ?? 0) / all) * count);
    return chosenIn(mutations, Math.max(FOLDER_MIN, share), random);
  });
  // The folders take turns, so that the first results already show all of them.
  return Array.from({ length: count }, (_, turn) =>
    chosen.flatMap((each) => each.slice(turn, turn + 1)),
  ).flat();
}

function chosenIn(mutations: readonly Mutation[], count: number, random: Random): Mutation[] {
  const chosen: Mutation[] = [];
  const rest = [...mutations];
  while (chosen.length < count) {
    const kinds = KINDS.filter((each) => rest.some(({ kind }) => kind === each));
    const kind = kinds[random.below(kinds.length)];
    const candidates = rest.filter((each) => each.kind === kind);
    const mutation = candidates[random.below(candidates.length)];
    if (mutation === undefined) break;
    rest.splice(rest.indexOf(mutation), 1);
    if (isOther(mutation)) chosen.push(mutation);
  }
  return chosen;
}

export function mutated({ source, start, end, text }: Mutation): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** Returns whether the mutation compiles, and to another program. */
function isOther(mutation: Mutation): boolean {
  const transpiler = new Bun.Transpiler({ loader: mutation.path.endsWith("x") ? "tsx" : "ts" });
  try {
    return transpiler.transformSync(mutated(mutation)) !== transpiler.transformSync(mutation.source);
  } catch {
    return false;
  }
}
