import { beforeEach, expect, test } from "bun:test";
import { type Side, SilenceWatch } from "../../../apps/gateway/upstream/websocket-silence.ts";
import { type ManualClock, manualClock } from "../../support/time/manual-clock.ts";

const TIMEOUT_MS = 1_000;
const OWN = Buffer.from("a service's");

let clock: ManualClock;
let watch: SilenceWatch;
let closed: boolean;
/** The sides that respond to the gateway's pings. */
let living: Set<Side>;

beforeEach(() => {
  clock = manualClock();
  closed = false;
  living = new Set();
  const side = (name: Side) => ({
    ping: (payload: Buffer) => {
      if (living.has(name)) watch.ponged(name, payload);
    },
  });
  watch = new SilenceWatch(TIMEOUT_MS, clock, {
    client: side("client"),
    service: side("service"),
    onSilence: () => {
      closed = true;
    },
  });
});

/** Lets ten timeouts pass, in which `speak` is called four times each. */
function pass(speak: () => void): void {
  for (let part = 0; part < 40 && !closed; part++) {
    speak();
    clock.advance(TIMEOUT_MS / 4);
  }
}

const sides: [side: Side, other: Side][] = [
  ["client", "service"],
  ["service", "client"],
];

// GW-132
test("a tunnel whose sides only respond to the gateway's pings is idle", () => {
  living = new Set(["client", "service"]);
  clock.advance(TIMEOUT_MS);
  expect(closed).toBe(false);
  clock.advance(TIMEOUT_MS / 4);
  expect(closed).toBe(true);
});

// GW-213
test.each(sides)(
  "a %s that sends nothing and responds to no ping is dead, whatever the %s sends",
  (_, other) => {
    living = new Set([other]);
    pass(() => watch.received(other));
    expect(closed).toBe(true);
  },
);

// GW-213
test.each(sides)("a %s that only responds to the gateway's pings lives while the %s sends", (side, other) => {
  living = new Set([side]);
  pass(() => watch.received(other));
  expect(closed).toBe(false);
});

// GW-213
test.each(sides)("a %s that the gateway does not read is not dead", (side, other) => {
  watch.paused(side, true);
  pass(() => watch.received(other));
  expect(closed).toBe(false);
  watch.paused(side, false);
  pass(() => watch.received(other));
  expect(closed).toBe(true);
});

// GW-132
test.each(sides)("pongs of a %s that respond to no ping of the gateway are activity", (side, other) => {
  living = new Set([other]);
  pass(() => watch.ponged(side, OWN));
  expect(closed).toBe(false);
});
