import { waitParameter } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { operatorOf } from "../operators/access.ts";
import type { Publishing } from "../publishing/publish.ts";

/** The query parameter with which a write waits until gateways serve it; see {@link waitedFor}. */
export const waitParameters = {
  wait_ms: waitParameter(
    "The maximum time in milliseconds to wait until every running gateway serves the write. `propagation` tells how many gateways serve it. The write is recorded even if the wait times out.",
  ),
};

export const waitQuery = Type.Object(waitParameters, { additionalProperties: false });

/**
 * Calls `write`, which changes `services`, and then waits until gateways serve the write if `wait_ms` is set. Returns
 * the result of the write, with its propagation if the caller waited.
 */
export async function waitedFor<Result extends object>(
  publishing: Publishing,
  { services, wait_ms, request }: { services: readonly string[]; wait_ms?: string; request: Request },
  write: (publishing: Publishing) => Promise<Result>,
) {
  let committedFence = 0;
  const onCommit = (fence: number) => {
    committedFence = fence;
    publishing.onCommit(fence);
  };
  const result = await write({ ...publishing, onCommit });
  publishing.countWrites(operatorOf(request).name, services.length);
  const commit = { fence: committedFence, services };
  const wait = () => publishing.propagations.wait(commit, Number(wait_ms), request.signal);
  const propagation = wait_ms === undefined ? undefined : await wait();
  return { ...result, propagation };
}
