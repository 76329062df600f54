import type { Socket } from "node:net";

/** How what one side sends fares on its way to the other, at this moment. */
export interface Conditions {
  /** What gets through; `closing`: no bytes, but the end of the connection. */
  readonly passes: "everything" | "closing" | "nothing";
  readonly latency_ms: number;
}

/** Something on its way: bytes, the sender's last word, or the end of its connection. */
type Load = Buffer | "end" | "close";

/** Passes on what `from` sends to `to`, in order, each load as much later as conditions say when it is sent. */
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
