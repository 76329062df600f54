import type { Socket } from "node:net";

/** The present conditions of one direction of a connection. */
export interface Conditions {
  /** The bytes that pass. `closing` passes no bytes, but the end of the connection. */
  readonly passes: "everything" | "closing" | "nothing";
  readonly latency_ms: number;
}

/** A load in transit: bytes, the sender's end of data, or the end of its connection. */
type Load = Buffer | "end" | "close";

/**
 * Passes on what `from` sends to `to`, in order. Each load is delayed by the latency at the time it was sent.
 */
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
      const left_ms = next.due_ms - performance.now();
      if (left_ms > 0) return void setTimeout(arriveDue, left_ms);
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
