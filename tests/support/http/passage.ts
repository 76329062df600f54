import type { Socket } from "node:net";

/** The present conditions of one direction of a proxied connection. */
export interface Conditions {
  /** The events that the proxy passes on. `closing` means only the close of the connection, but no bytes. */
  readonly passes: "everything" | "closing" | "nothing";
  readonly latencyMs: number;
}

/** An event to pass on: bytes, the sender's end of data (FIN), or the close of the sender's socket. */
type Load = Buffer | "end" | "close";

/**
 * Passes on everything that `from` sends, in order, to `to`. Delays each part by the latency at the time of
 * sending.
 */
export function passOn(from: Socket, to: Socket, conditions: () => Conditions): void {
  const underway: { load: Load; dueMs: number }[] = [];
  const arrive = (load: Load) => {
    const { passes } = conditions();
    if (passes === "nothing" || (passes === "closing" && load !== "close")) return;
    if (load === "close") to.destroy();
    else if (load === "end") to.end();
    else if (!to.write(load)) {
      from.pause();
      to.once("drain", () => from.resume());
    }
  };
  const arriveDue = () => {
    for (let next = underway[0]; next !== undefined; next = underway[0]) {
      const leftMs = next.dueMs - performance.now();
      if (leftMs > 0) return void setTimeout(arriveDue, leftMs);
      underway.shift();
      arrive(next.load);
    }
  };
  const depart = (load: Load) => {
    const { latencyMs } = conditions();
    const last = underway.at(-1);
    if (last === undefined && latencyMs === 0) return arrive(load);
    underway.push({ load, dueMs: Math.max(last?.dueMs ?? 0, performance.now() + latencyMs) });
    if (last === undefined) setTimeout(arriveDue, latencyMs);
  };
  from.on("data", depart);
  from.on("end", () => depart("end"));
  from.on("close", () => depart("close"));
}
