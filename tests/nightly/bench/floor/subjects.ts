import type { Bed, Started } from "../gateway/bed.ts";
import type { Identity } from "../gateway/identity.ts";
import { rivalMissing, startRival } from "../gateway/rival.ts";
import {
  HEADERS,
  type Job,
  MEMBER_HEADERS,
  startGateway,
  startOnBun,
  startPassThrough,
} from "../gateway/subjects.ts";
import type { Target } from "../measure/wrk.ts";
import { pathsOf, servicesAt } from "./catalog.ts";

export type SubjectName =
  | "pass_through_fetch"
  | "pass_through_pool"
  | "lean_public"
  | "lean_whole"
  | "lean_fetch_public"
  | "lean_fetch_whole"
  | "public"
  | "whole"
  | "fetch_public"
  | "fetch_whole"
  | "rival";

/** A subject of the comparison: a process that does one job. One process can be several subjects. */
export interface Subject {
  readonly name: SubjectName;
  readonly title: string;
  readonly job: Job;
  readonly process: Started;
}

interface Behind extends Identity {
  readonly upstream: Started & { readonly origins: readonly string[] };
  readonly redisUrl: string;
}

/**
 * Starts all subjects. With `fetch`, also starts the gateway and the lean gateway with `fetch` as HTTP
 * client.
 */
export async function startSubjects(
  bed: Bed,
  behind: Behind,
  { fetch }: { fetch: boolean },
): Promise<Subject[]> {
  const { origins } = behind.upstream;
  const passThrough = await startPassThrough(bed, origins);
  const pooled = await startOnBun(bed, "pooled-pass-through", origins.join(","));
  const subjects: Subject[] = [
    row("pass_through_fetch", "pass-through on fetch", "pass_through", passThrough),
    row("pass_through_pool", "pass-through on the pool", "pass_through", pooled),
    ...both(
      ["lean_public", "lean_whole"],
      "lean on its own connections",
      await startLean(bed, behind, "own"),
    ),
    ...both(["public", "whole"], "gateway", await startGatewayOn(bed, behind, "pool")),
  ];
  if (fetch) {
    const lean = await startLean(bed, behind, "fetch");
    const gateway = await startGatewayOn(bed, behind, "fetch");
    subjects.push(
      ...both(["lean_fetch_public", "lean_fetch_whole"], "lean on fetch", lean),
      ...both(["fetch_public", "fetch_whole"], "gateway on fetch", gateway),
    );
  }
  if (rivalMissing() === null) {
    subjects.push(
      row("rival", "nginx + Lua, whole job", "whole", await startRival(bed, { ...behind, origins })),
    );
  }
  return subjects;
}

function startLean(bed: Bed, behind: Behind, client: "own" | "fetch"): Promise<Started> {
  const { upstream, redisUrl, validateUrl } = behind;
  return startOnBun(bed, "lean", client, upstream.origins.join(","), redisUrl, validateUrl);
}

function startGatewayOn(bed: Bed, behind: Behind, client: "pool" | "fetch"): Promise<Started> {
  const variables = { UPSTREAM_CLIENT: client };
  return startGateway(bed, behind, servicesAt(behind.upstream.origins), { variables });
}

function row(name: SubjectName, title: string, job: Job, process: Started): Subject {
  return { name, title, job, process };
}

function both(
  [ofPublic, ofWhole]: readonly [SubjectName, SubjectName],
  title: string,
  process: Started,
): Subject[] {
  return [
    row(ofPublic, `${title}, public`, "public", process),
    row(ofWhole, `${title}, whole job`, "whole", process),
  ];
}

/** Returns the load target for a subject: its process, and paths of this many services. */
export function targetOf({ job, process }: Subject, services: number): Target {
  const isPublic = job === "public";
  const headers = isPublic ? HEADERS : MEMBER_HEADERS;
  return { ...process, headers, paths: pathsOf(services, { isPublic }) };
}
