/** The response of a gateway to a credential. */
export interface Admission {
  readonly admitted: boolean;
  /** Whether the caller has the label of the route; undefined if that is not known, or does not matter. */
  readonly labelled?: boolean;
  readonly plan?: string | null;
}

/** An operation that changed the admission of a credential. */
export interface Change {
  readonly what: string;
  readonly startedMs: number;
  readonly respondedMs: number;
  readonly admission: Admission;
}

/** One use of a credential. `admission` is null if the response tells nothing, as a 503. */
export interface Use {
  readonly gateway: number;
  readonly sentMs: number;
  readonly respondedMs: number;
  readonly admission: Admission | null;
}

/** The changes and uses of one credential. The first change made it. */
export interface CredentialHistory {
  readonly name: string;
  readonly changes: readonly [Change, ...Change[]];
  readonly uses: readonly Use[];
}

/** A time in which a gateway did not reach identity. `toMs` is infinite while that lasts. */
export interface Gap {
  readonly gateway: number;
  readonly fromMs: number;
  toMs: number;
}

export interface Bounds {
  readonly gaps: readonly Gap[];
  readonly ttlMs: number;
  /** Returns how long the processes on the way to this gateway waited for a processor between two moments. */
  readonly delayMs: (gateway: number, fromMs: number, toMs: number) => number;
}

export interface Judgement {
  readonly broken: readonly Use[];
  readonly decided: number;
  /** The uses of an old admission more than two seconds after a change, by a gateway without contact. */
  readonly cutOff: number;
  /** The same by a gateway with contact, while processes waited for a processor. */
  readonly delayed: number;
  /** The longest time after the response to a change at which a gateway with contact used its old admission. */
  readonly latestMs: number;
}

export const SEEN_MS = 2_000;
/** The pause in which a cached result may end late: a validation and its response. */
const TTL_SLACK_MS = 500;

/** Judges each use by the admissions that could hold for it: the last one that must be known, and all after it. */
export function judge({ changes, uses }: CredentialHistory, bounds: Bounds): Judgement {
  const broken: Use[] = [];
  let [decided, cutOff, delayed, latestMs] = [0, 0, 0, 0];
  for (const use of uses) {
    const { admission } = use;
    if (admission === null) continue;
    decided += 1;
    const possible = changes.filter(({ startedMs }) => startedMs <= use.respondedMs);
    const seen = possible.findLastIndex((change) => knownMs(change, use.gateway, bounds) <= use.sentMs);
    const found = possible.findLastIndex((change) => agree(change.admission, admission));
    if (found < Math.max(0, seen)) broken.push(use);
    const next = possible[found + 1];
    if (found < Math.max(0, seen) || next === undefined) continue;
    const lateMs = use.sentMs - next.respondedMs;
    const hasContact = !bounds.gaps.some(
      ({ gateway, fromMs, toMs }) =>
        gateway === use.gateway && fromMs <= use.sentMs && toMs + SEEN_MS >= next.respondedMs,
    );
    if (hasContact) latestMs = Math.max(latestMs, lateMs);
    if (lateMs > SEEN_MS && hasContact) delayed += 1;
    if (lateMs > SEEN_MS && !hasContact) cutOff += 1;
  }
  return { broken, decided, cutOff, delayed, latestMs };
}

/** Returns when a gateway must know a change: two seconds after the response or after contact, or when the TTL ends. */
function knownMs({ respondedMs }: Change, gateway: number, { gaps, ttlMs, delayMs }: Bounds): number {
  let dueMs = respondedMs + SEEN_MS;
  for (const gap of gaps) {
    if (gap.gateway === gateway && gap.fromMs <= dueMs && gap.toMs >= respondedMs) dueMs = gap.toMs + SEEN_MS;
  }
  dueMs = Math.min(dueMs, respondedMs + ttlMs + TTL_SLACK_MS);
  return dueMs + delayMs(gateway, respondedMs, dueMs);
}

function agree(expected: Admission, seen: Admission): boolean {
  if (expected.admitted !== seen.admitted) return false;
  const isSame = <T>(one: T | undefined, other: T | undefined) =>
    one === undefined || other === undefined || one === other;
  return isSame(expected.labelled, seen.labelled) && isSame(expected.plan, seen.plan);
}

/** Returns the history of a credential as text, around a use that broke the promise. */
export function narrate(
  { name, changes, uses }: CredentialHistory,
  broken: Use,
  gaps: readonly Gap[],
): string {
  const at = (ms: number) => `${((ms - broken.sentMs) / 1000).toFixed(3)} s`;
  const lines: [number, string][] = [
    ...changes.map(({ what, startedMs, respondedMs, admission }): [number, string] => [
      startedMs,
      `${what}, response ${at(respondedMs)}: ${JSON.stringify(admission)}`,
    ]),
    ...uses
      .filter(({ gateway, sentMs }) => gateway === broken.gateway && Math.abs(sentMs - broken.sentMs) < 4_000)
      .map((use): [number, string] => [
        use.sentMs,
        `used, response ${at(use.respondedMs)}: ${JSON.stringify(use.admission)}${use === broken ? " BROKEN" : ""}`,
      ]),
    ...gaps
      .filter(({ gateway }) => gateway === broken.gateway)
      .map(({ fromMs, toMs }): [number, string] => [fromMs, `no contact with identity until ${at(toMs)}`]),
  ];
  const told = lines
    .filter(([ms]) => broken.sentMs - ms < 30_000 && ms - broken.sentMs < 4_000)
    .sort(([one], [other]) => one - other)
    .map(([ms, line]) => `  ${at(ms)} ${line}`);
  return [`${name} at gateway ${broken.gateway + 1}:`, ...told].join("\n");
}
