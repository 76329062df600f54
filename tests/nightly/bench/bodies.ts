import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../support/http/free-port.ts";
import type { Bench } from "./bench.ts";
import { Bed } from "./gateway/bed.ts";
import { startIdentity } from "./gateway/identity.ts";
import { startGateway, startPassThrough } from "./gateway/subjects.ts";
import { BenchImpossible } from "./measure/cores.ts";
import { type Goal, goalTable, judge } from "./measure/goal-table.ts";
import { cpuSecondsOf, describeMachine, machineLine } from "./measure/machine.ts";
import { ratiosOf, spreadOf } from "./measure/statistics.ts";
import { table } from "./measure/table.ts";

const GIB = 1_073_741_824;
const MIB = 1_048_576;

type Direction = "down" | "up";

const GOALS: Record<Direction, Goal> = {
  down: { title: "1 GiB down / pass-through on fetch", bound: 0.85 },
  up: { title: "1 GiB up / pass-through on fetch", bound: 0.85 },
};

/**
 * Compares the throughput of large bodies through the gateway, in each direction, with a bare pass-through.
 */
export const bodies: Bench = {
  summary: "1 GiB down and up through the gateway, compared with a bare pass-through",
  async run({ quick, progress }) {
    const machine = describeMachine();
    const missing = ["curl"].filter((tool) => Bun.which(tool) === null);
    if (missing.length > 0)
      throw new BenchImpossible(`This bench needs ${missing.join(", ")}: install them.`);
    await using bed = await Bed.create();
    await using identity = await startIdentity();
    const size_bytes = quick ? 256 * MIB : GIB;
    const file = join(bed.directory, "file");
    await Bun.write(file, "");
    await truncate(file, size_bytes);
    const port = freePort();
    const entry = `${import.meta.dir}/bodies/upstream/main.ts`;
    const upstream = await bed.helper([process.execPath, entry, String(port), file], port);
    const redis = await bed.redis();
    const services = { upstream, redisUrl: redis.url, ...identity };
    const subjects = {
      pass_through: await startPassThrough(bed, [upstream.url]),
      gateway: await startGateway(bed, services, 10, { variables: { MAX_BODY_BYTES: String(2 * GIB) } }),
    };
    const samples: Sample[] = [];
    const rounds = quick ? 3 : 9;
    for (let round = 0; round <= rounds; round++) {
      for (const direction of ["down", "up"] as const) {
        for (const name of ["pass_through", "gateway"] as const) {
          const taken = await transfer(subjects[name], direction, file, size_bytes);
          if (round === 0) continue; // warms up
          samples.push({ name, direction, ...taken });
          progress(
            `round ${round}/${rounds}  ${name}, ${direction}: ${taken.mib_per_second.toFixed(0)} MiB/s`,
          );
        }
      }
    }
    const goals = (["down", "up"] as const).map((direction) =>
      judge(
        GOALS[direction],
        ratiosOf(valuesOf(samples, "gateway", direction), valuesOf(samples, "pass_through", direction)),
        ratiosOf(
          valuesOf(samples, "pass_through", direction, "cpu_seconds"),
          valuesOf(samples, "gateway", direction, "cpu_seconds"),
        ),
      ),
    );
    const rows = (["down", "up"] as const).flatMap((direction) =>
      (["pass_through", "gateway"] as const).map((name) => [
        `${name.replace("_", "-")}, ${direction}`,
        spreadOf(valuesOf(samples, name, direction)).median.toFixed(0),
        spreadOf(valuesOf(samples, name, direction, "cpu_seconds")).median.toFixed(2),
      ]),
    );
    const text = [
      machineLine(machine),
      `${rounds} rounds of ${size_bytes / MIB} MiB; one core for the subject, one for curl and the service`,
      "",
      table(["", "MiB/s", "CPU s"], rows),
      "",
      goalTable(goals),
    ].join("\n");
    return { text, goals, data: { machine, size_bytes, rounds, samples, goals } };
  },
};

interface Sample {
  readonly name: "pass_through" | "gateway";
  readonly direction: Direction;
  readonly mib_per_second: number;
  readonly cpu_seconds: number;
}

function valuesOf(
  samples: readonly Sample[],
  name: Sample["name"],
  direction: Direction,
  figure: "mib_per_second" | "cpu_seconds" = "mib_per_second",
): number[] {
  return samples
    .filter((sample) => sample.name === name && sample.direction === direction)
    .map((sample) => sample[figure]);
}

/**
 * Sends a body of `size_bytes` through `url` with curl, and measures the throughput.
 *
 * @throws Error if the response is not 200, or if part of the body is missing
 */
async function transfer(
  { pid, url }: { pid: number; url: string },
  direction: Direction,
  file: string,
  size_bytes: number,
): Promise<Pick<Sample, "mib_per_second" | "cpu_seconds">> {
  const path = direction === "down" ? "/public/things/file" : "/public/sink/file";
  const before = cpuSecondsOf(pid);
  const format = direction === "down" ? "%{http_code} %{size_download}" : "%{http_code} %{size_upload}";
  const upload = direction === "up" ? ["--upload-file", file] : [];
  const started = performance.now();
  const child = Bun.spawn(
    ["curl", "-sS", "-o", "/dev/null", "-w", format, "-H", "Expect:", ...upload, url + path],
    {
      stdin: "ignore",
      stdout: "pipe",
    },
  );
  const output = await child.stdout.text();
  const seconds = (performance.now() - started) / 1000;
  if (output !== `200 ${size_bytes}`)
    throw new Error(`${url}${path}: curl reports "${output}" (status and bytes).`);
  return { mib_per_second: size_bytes / MIB / seconds, cpu_seconds: cpuSecondsOf(pid) - before };
}
