import { envoyMissing, startBareEnvoy, startFilteringEnvoy } from "../gateway/envoy.ts";
import type { Identity } from "../gateway/identity.ts";
import { rivalMissing, startRival } from "../gateway/rival.ts";
import { HEADERS, type Job, MEMBER_HEADERS, startGateway, startPassThrough } from "../gateway/subjects.ts";
import type { Bed, Started } from "../measure/bed.ts";
import type { Target } from "../measure/wrk.ts";
import { pathsOf, servicesAt } from "./catalog.ts";

export type SubjectName = "pass_through_fetch" | "public" | "whole" | "rival" | "envoy" | "envoy_filters";

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

/** Starts all subjects. Leaves out nginx with Lua and Envoy if they are not installed. */
export async function startSubjects(bed: Bed, behind: Behind): Promise<Subject[]> {
  const { origins } = behind.upstream;
  const passThrough = await startPassThrough(bed, origins);
  const gateway = await startGateway(bed, behind, servicesAt(origins));
  const subjects: Subject[] = [
    row("pass_through_fetch", "pass-through on fetch", "pass_through", passThrough),
    row("public", "gateway, public", "public", gateway),
    row("whole", "gateway, all features", "whole", gateway),
  ];
  if (rivalMissing() === null) {
    const rival = await startRival(bed, { ...behind, origins });
    subjects.push(row("rival", "nginx + Lua, all features", "whole", rival));
  }
  if (envoyMissing() === null) {
    subjects.push(
      row("envoy", "Envoy, forwards only", "pass_through", await startBareEnvoy(bed, origins)),
      row("envoy_filters", "Envoy, some features", "whole", await startFilteringEnvoy(bed, origins)),
    );
  }
  return subjects;
}

function row(name: SubjectName, title: string, job: Job, process: Started): Subject {
  return { name, title, job, process };
}

/** @throws Error if the subject was not started */
export function subjectOf(subjects: readonly Subject[], name: SubjectName): Subject {
  const found = subjects.find((subject) => subject.name === name);
  if (found === undefined) throw new Error(`${name} was not started.`);
  return found;
}

/** Returns the load target for a subject: its process, and paths of this many services. */
export function targetOf({ job, process }: Subject, services: number): Target {
  const isPublic = job === "public";
  const headers = isPublic ? HEADERS : MEMBER_HEADERS;
  return { ...process, headers, paths: pathsOf(services, { isPublic }) };
}
