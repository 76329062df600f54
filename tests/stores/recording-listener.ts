import type { RouteChange, RouteListener } from "@ostiary/lib/runtime/stores/route-store";

/** Returns a listener for a watch. It records all changes and interruptions. */
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
    /** Returns the number of changes and interruptions. Either shows that the watch works. */
    calls: () => changes.length + interruptions,
  };
}
