/** A command of this Bun, and the environment variables that it gets beside those of this process. */
export interface Command {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A part of the third tier: commands in sequence. The last one gets the arguments of the command line. */
export interface Part {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}

const tests = (...paths: string[]): Command => ({ args: ["test", "--path-ignore-patterns=-", ...paths] });
const program = (folder: string, ...args: string[]): Command => ({
  args: [`tests/nightly/${folder}/main.ts`, ...args],
});

/** The folders whose tests another part runs. */
const OWN_TESTS = "deploy,revocations";

export const PARTS: readonly Part[] = [
  {
    name: "resilience",
    summary:
      "what needs a quiet machine or much time; then ten times the usual random inputs of the unit tests",
    commands: [
      { args: ["test", `--path-ignore-patterns=tests/nightly/{${OWN_TESTS}}/**`, "tests/nightly"] },
      { args: ["test", "tests/unit"], env: { TEST_RUNS: "10" } },
    ],
  },
  {
    name: "order",
    summary: "no test needs another one before it: the first two tiers, in an order by chance",
    commands: [{ args: ["tests/verify/main.ts", "--randomize"] }],
  },
  {
    name: "embedded",
    summary: "the first tier passes on a machine without any server",
    commands: [{ args: ["test"], env: { TEST_STORES: "embedded" } }],
  },
  {
    name: "faults",
    summary: "every part fails in every way under load",
    commands: [program("faults")],
  },
  {
    name: "soak",
    summary: "faults by chance for half an hour: memory, timers, files and connections stay flat",
    commands: [program("faults", "--soak", "30")],
  },
  {
    name: "histories",
    summary: "an order explains the responses to concurrent clients",
    commands: [program("histories")],
  },
  {
    name: "revocations",
    summary: "no gateway that reaches identity admits a revoked key two seconds later, despite faults",
    commands: [tests("tests/nightly/revocations"), program("revocations")],
  },
  {
    name: "upgrade",
    summary:
      "the last release is replaced by this source under load, and back; without one, a rolling restart",
    commands: [program("upgrade")],
  },
  {
    name: "sizes",
    summary: "a million events to prove and to stream, a million logs to seal",
    commands: [program("bench", "proof"), program("bench", "sealing"), program("bench", "streams")],
  },
  {
    name: "deploy",
    summary: "the files for Kubernetes, systemd and nginx, read by these programs",
    commands: [tests("tests/nightly/deploy")],
  },
  {
    name: "bench",
    summary: "every bench that has goals, and which it missed",
    commands: [program("bench", "all")],
  },
  {
    name: "mutation",
    summary: "the product is broken in sixty places, and the first two tiers of tests find it",
    commands: [program("mutation")],
  },
];
