import type { RouteChange, RouteListener } from "@ostiary/lib/runtime/stores/route-store";

/** Returns a listener of a watch that records its calls. */
export function recordingListener() {
  const changes: RouteChange[] = [];
  let interruptions = 0;
  const listener: RouteListener = {
    changed: (more) => changes.push(...more),
    interrupted: () => {
      interruptions += 1;
    },
  };
  return {
    listener,
    changes,
    interruptions: () => interruptions,
    /** The number of changes and interruptions: after either, no change is missed. */
    calls: () => changes.length + interruptions,
  };
}
