import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Speed } from "../floor/speed.ts";
import { Spread, spreadOf } from "../measure/statistics.ts";

const us = (description: string) => Type.Number({ exclusiveMinimum: 0, description });

/**
 * The measured costs, which are the only input of the capacity model. `taken` names the machine and the day.
 */
export const Figures = Type.Object(
  {
    taken: Type.String({ description: "When and where." }),
    gateway_public_us: us("CPU of a gateway for a public request, µs"),
    gateway_limited_us: us("CPU of a gateway for a request that is admitted, limited and rewritten, µs"),
    gateway_audited_us: us("CPU of a gateway for an audited request, µs"),
    gateway_base_mib: us("memory of a gateway without routes, MiB"),
    gateway_route_kib: us("memory of a gateway for each route, KiB"),
    gateway_stream_kib: us("memory of a gateway for an idle event stream, KiB"),
    gateway_credential_kib: us("memory of a gateway for each credential that it caches, KiB"),
    gateway_edit_stall_ms: us("longest stall of a gateway by one edit among 100 000 routes, ms"),
    redis_count_us: us("CPU of Redis for each limited request, µs"),
    identity_validation_us: us("CPU of identity for a validation, µs"),
    postgres_validation_us: us("CPU of PostgreSQL for a validation, µs, at most"),
    audit_event_us: us("CPU of audit for an event, intent and outcome, µs"),
    postgres_event_us: us("CPU of PostgreSQL for an event, intent and outcome, µs"),
    event_bytes: us("disk for an event with its indexes, bytes"),
  },
  { additionalProperties: false },
);
export type Figures = Readonly<Static<typeof Figures>>;

/** The figures in `capacity/figures.json`: all but those of `bench floor`, whose source is `floor/speed.json`. */
export const StoredFigures = Type.Omit(Figures, ["gateway_public_us", "gateway_limited_us"]);
type StoredFigures = Readonly<Static<typeof StoredFigures>>;

const LOAD = "64";

/** Returns the figures of the capacity model: the stored ones, and the CPU of the gateway by `bench floor`. */
export function figuresWith(stored: StoredFigures, { taken, rows }: Speed): Figures {
  const cpuOf = (name: string) => {
    const row = found(rows, (each) => each.name === name, name);
    return found(row.figures, ({ load }) => load === LOAD, LOAD).cpu_us;
  };
  return {
    ...stored,
    taken: `${stored.taken}. The first two figures are those of bench floor: ${taken}`,
    gateway_public_us: cpuOf("public"),
    gateway_limited_us: cpuOf("whole"),
  };
}

const Sample = Type.Object({ requests_per_cpu_second: Type.Number() });
const Goals = Type.Array(Type.Object({ title: Type.String(), value: Spread }));
const Ways = Type.Object({
  measured: Type.Array(Type.Object({ title: Type.String(), samples: Type.Array(Sample) })),
});

/** The fields of the output of `bench all --json` that the capacity model uses. */
const AllBenches = Type.Object({
  machine: Type.Object({
    cpu: Type.String(),
    cores: Type.Number(),
    bun: Type.String(),
    load_average: Type.Number(),
  }),
  audited: Ways,
  validations: Type.Composite([Ways, Type.Object({ selects: Type.Array(Type.Number()) })]),
  edits: Type.Object({ goals: Goals }),
  connections: Type.Object({ goals: Goals }),
});

const ROUTES = 100_000;

/**
 * Returns `before` updated with the output of `bench all --json`. Figures that no bench measures stay the
 * same.
 */
export function figuresFrom(allBenches: unknown, before: StoredFigures, day: string): StoredFigures {
  const { machine, audited, validations, edits, connections } = Value.Parse(AllBenches, allBenches);
  const perCall = ({ measured }: Static<typeof Ways>, title: string) => {
    const { samples } = found(measured, (each) => each.title === title, title);
    return rounded(1e6 / spreadOf(samples.map((sample) => sample.requests_per_cpu_second)).median);
  };
  const goal = (goals: Static<typeof Goals>, title: string) =>
    found(goals, (each) => each.title === title, title).value.median;
  const baseMib = goal(edits.goals, "memory, 0 routes, MiB");
  return {
    ...before,
    taken: `${day}, ${machine.cpu}, ${machine.cores} cores, Bun ${machine.bun}, load average ${machine.load_average}`,
    gateway_audited_us: perCall(audited, "audited, 64 at once"),
    gateway_base_mib: rounded(baseMib),
    gateway_route_kib: rounded(
      ((goal(edits.goals, "memory, 100 000 routes, MiB") - baseMib) * 1024) / ROUTES,
    ),
    gateway_stream_kib: rounded(goal(connections.goals, "an event stream, KiB")),
    gateway_edit_stall_ms: rounded(goal(edits.goals, "longest stall by one edit, 100 000 routes, ms")),
    identity_validation_us: perCall(validations, "validate"),
    // An upper bound: it assumes that PostgreSQL uses the whole time of all cores. In fact, pgbench uses a
    // part.
    postgres_validation_us: rounded((machine.cores * 1e6) / spreadOf(validations.selects).median),
  };
}

function found<T>(list: readonly T[], is: (each: T) => boolean, what: string): T {
  const one = list.find(is);
  if (one === undefined) throw new Error(`The file has no figure "${what}": run bench all --json again.`);
  return one;
}

/** Rounds to three significant digits, because further digits differ from run to run. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
