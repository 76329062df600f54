import type { Socket } from "node:net";

/** The present conditions of one direction of a proxied connection. */
export interface Conditions {
  /** The events that the proxy passes on. `closing` means only the close of the connection, but no bytes. */
  readonly passes: "everything" | "closing" | "nothing";
  readonly latency_ms: number;
}

/** An event to pass on: bytes, the sender's end of data (FIN), or the close of the sender's socket. */
type Load = Buffer | "end" | "close";

/** Passes on what `from` sends to `to`, in order. The latency at the time of sending delays each part. */
export function passOn(from: Socket, to: Socket, conditions: () => Conditions): void {
  const underway: { load: Load; due_ms: number }[] = [];
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
      const leftMs = next.due_ms - performance.now();
      if (leftMs > 0) return void setTimeout(arriveDue, leftMs);
      underway.shift();
      arrive(next.load);
    }
  };
  const depart = (load: Load) => {
    const { latency_ms } = conditions();
    const last = underway.at(-1);
    if (last === undefined && latency_ms === 0) return arrive(load);
    underway.push({ load, due_ms: Math.max(last?.due_ms ?? 0, performance.now() + latency_ms) });
    if (last === undefined) setTimeout(arriveDue, latency_ms);
  };
  from.on("data", depart);
  from.on("end", () => depart("end"));
  from.on("close", () => depart("close"));
}
