/** The limits of what one service's description can cost. */
export interface Share {
  /** The maximum work, in units of {@link WorkBudget}. */
  readonly work: number;
  /** The maximum number of characters that the description adds to the edge description. */
  readonly characters: number;
}

/** The maximum work for the description of one service, and for all of them together. */
const SERVICE_WORK_MAX = 32 * 1024 * 1024;
const ALL_WORK_MAX = 256 * 1024 * 1024;
/** The maximum number of characters that the description of one service adds, and that all of them add together. */
const SERVICE_CHARACTERS_MAX = 4 * 1024 * 1024;
const ALL_CHARACTERS_MAX = 16 * 1024 * 1024;
const WORK_OF_ROUTES = 1024 * 1024;

const workOf = (bytes: number) => Math.min(SERVICE_WORK_MAX, WORK_OF_ROUTES + 64 * bytes);
/** An operation repeats the parameters and responses that it references, so a description can grow. */
const charactersOf = (bytes: number) => Math.min(SERVICE_CHARACTERS_MAX, 3 * bytes);

/** Returns the share of each service by need (RG-158), from the sizes of the descriptions in bytes. */
export function fairShares(sizes: ReadonlyMap<string, number>): Map<string, Share> {
  const work = split(ALL_WORK_MAX, [...sizes.values()].map(workOf));
  const characters = split(ALL_CHARACTERS_MAX, [...sizes.values()].map(charactersOf));
  return new Map(
    [...sizes.keys()].map((service, index) => [
      service,
      { work: work[index] ?? 0, characters: characters[index] ?? 0 },
    ]),
  );
}

/** Splits `total` by need: what a small need leaves of an equal share goes to the larger ones. */
function split(total: number, needs: readonly number[]): number[] {
  const shares = new Array<number>(needs.length).fill(0);
  const ascending = [...needs.entries()].sort(([, one], [, other]) => one - other);
  let left = total;
  for (const [place, [index, need]] of ascending.entries()) {
    const share = Math.min(need, Math.floor(left / (ascending.length - place)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}
