import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Target } from "../measure/wrk.ts";
import { rewritten } from "./catalog.ts";
import { caller, strangers } from "./identity.ts";
import type { Job } from "./subjects.ts";

const echo = Type.Object({ path: Type.String() });

const ADDED = [
  "x-request-id",
  "x-content-type-options",
  "x-frame-options",
  "referrer-policy",
  "access-control-allow-origin",
];
const LIMITED = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

interface Subject extends Target {
  readonly title: string;
  readonly job: Job;
}

/**
 * Checks that a subject does all of its work, because a subject that omits some is faster.
 *
 * @throws Error that says which work the subject omits
 */
export async function verify(subject: Subject): Promise<void> {
  const [path = ""] = subject.paths;
  const response = await ask(subject, path, subject.headers);
  if (response.status !== 200) throw new Error(`${subject.title} responds with ${response.status}.`);
  const { path: arrived } = Value.Parse(echo, await response.json());
  const expected = subject.job === "whole" ? rewritten(path, caller.organization_id) : path;
  if (arrived !== expected) throw new Error(`${subject.title} calls ${arrived}, not ${expected}.`);
  const own = subject.job === "pass_through" ? [] : ADDED;
  for (const header of subject.job === "whole" ? [...own, ...LIMITED] : own) {
    if (!response.headers.has(header)) throw new Error(`${subject.title} does not set ${header}.`);
  }
  if (subject.job !== "whole") return;
  await refused(subject, path, strangers.unknown, 401);
  await refused(subject, path, strangers.unlabelled, 403);
  await refused(subject, `${path}/more`, caller.key, 404);
}

async function refused(subject: Subject, path: string, key: string, status: number): Promise<void> {
  const response = await ask(subject, path, { ...subject.headers, "X-API-Key": key });
  await response.body?.cancel();
  if (response.status !== status) {
    throw new Error(`${subject.title} responds with ${response.status}, not ${status}.`);
  }
}

function ask(subject: Subject, path: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  return fetch(subject.url + path, { headers });
}
