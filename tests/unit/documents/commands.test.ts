/**
 * Checks that a test runs each shell command of README.md and of the guides, or that this file says why no
 * test does.
 */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { blocksOf, documents, ROOT } from "../../support/documents.ts";

interface NotRun {
  why: string;
}

const GUIDES = ".github/guides/";
const README_TEST = "tests/flow/quick-start/readme-commands.test.ts";
const FEED = "tests/flow/guides/lifecycle-feed.test.ts";
const LIMITS = "tests/flow/guides/choosing-limits.test.ts";
const KUBERNETES = "tests/flow/guides/kubernetes.test.ts";
const PROVIDERS = "tests/flow/guides/identity-providers.test.ts";
const UPGRADE = "tests/flow/guides/upgrading.test.ts";
const SIEM = "tests/flow/guides/audit-to-siem.test.ts";
const STREAMS = "tests/flow/guides/audit-streams.test.ts";
const RESTORE = "tests/flow/guides/backup-and-restore.test.ts";
const MOMENT = "tests/flow/guides/point-in-time.test.ts";
const BILL = "tests/flow/guides/bill-customers.test.ts";
const CHECKS = "tests/flow/guides/checks-before-publishing.test.ts";
const PORTAL = "tests/flow/guides/customer-portal.test.ts";
const TEAMS = "tests/flow/guides/one-registry-forty-teams.test.ts";
const TEN_MINUTES = "tests/flow/guides/ten-minutes.test.ts";

/** The test that runs the commands under each heading of a document, or the reason why no test does. */
const COMMANDS: Record<string, Record<string, string | NotRun>> = {
  "README.md": {
    Start: { why: "tests/flow/quick-start/tour-embedded.test.ts starts the platform, and .ci/run installs" },
    Test: { why: "the command runs this test itself" },
    "How fast it is": { why: "it takes an hour, and the numbers depend on the machine" },
    "Run it for real": README_TEST,
  },
  [`${GUIDES}audit-streams.md`]: {
    "A receiver that proves its log complete": STREAMS,
    "The stream": STREAMS,
  },
  [`${GUIDES}audit-to-siem.md`]: {
    "A credential that may read the log and nothing else": SIEM,
    "The program": SIEM,
  },
  [`${GUIDES}backup-and-restore.md`]: {
    "Back up": RESTORE,
    Restore: RESTORE,
    "To a point in time": MOMENT,
    "Look whether all is there": RESTORE,
  },
  [`${GUIDES}bill-customers.md`]: {
    "Bill your customers": BILL,
    "A reader that can be stopped at any moment": BILL,
    OpenMeter: BILL,
    Stripe: BILL,
  },
  [`${GUIDES}checks-before-publishing.md`]: {
    "Before a commit": CHECKS,
  },
  [`${GUIDES}choosing-limits.md`]: {
    "Rate limits of routes": LIMITS,
  },
  [`${GUIDES}customer-portal.md`]: {
    "1. Give the page your look": PORTAL,
    "2. Start it": PORTAL,
  },
  [`${GUIDES}identity-providers.md`]: {
    "Any provider": PROVIDERS,
    Keycloak: PROVIDERS,
    "When it does not work": { why: "tests/app/gateway proves the metric that it reads" },
  },
  [`${GUIDES}kubernetes.md`]: {
    "1. The image": { why: "it needs a Docker engine" },
    "2. The databases": KUBERNETES,
    "3. The other secrets": KUBERNETES,
    "5. Start": {
      why: "it needs a cluster; the test checks the manifests against the schemas of the services and of Kubernetes",
    },
    "6. Publish what customers reach of identity and audit": {
      why: "README.md has the same commands, and its test runs them",
    },
  },
  [`${GUIDES}lifecycle-feed.md`]: {
    "Follow the lifecycle feed": FEED,
    "A reader that can be stopped at any moment": FEED,
  },
  [`${GUIDES}one-registry-forty-teams.md`]: {
    "The file of operators": TEAMS,
    "Who did it": TEAMS,
  },
  [`${GUIDES}upgrading.md`]: {
    Before: UPGRADE,
    "The order": UPGRADE,
    After: UPGRADE,
    "Go back": UPGRADE,
    "Try it": { why: "it takes minutes; tests/unit/upgrade checks its releases and orders" },
  },
  [`${GUIDES}ten-minutes.md`]: {
    "1. Start Ostiary": TEN_MINUTES,
    "2. Start your service": TEN_MINUTES,
    "3. Write down its routes": TEN_MINUTES,
    "4. Publish them": TEN_MINUTES,
    "5. Call it": TEN_MINUTES,
    "6. Give a program a key": TEN_MINUTES,
    "7. See the limit and the log": TEN_MINUTES,
    "8. Change it, and take it back": TEN_MINUTES,
  },
};

/** Guides whose commands no test runs, with the reason. */
const TRIED_ELSEWHERE: Record<string, NotRun> = {
  [`${GUIDES}capacity.md`]: { why: "its figures come from the benchmarks" },
  [`${GUIDES}clusters.md`]: { why: "tests/resilience breaks the clusters that it describes" },
  [`${GUIDES}one-machine-systemd.md`]: { why: "it needs systemd and its users" },
  [`${GUIDES}production-compose.md`]: { why: "it needs a Docker engine" },
  [`${GUIDES}witnesses.md`]: {
    why: "it needs a Docker engine, systemd or a cluster; tests/flow/witness reads the files and makes a key as a pod does",
  },
};

async function headingsWithCommands(document: string): Promise<string[]> {
  const commands = (await blocksOf(document)).filter(({ language }) => language === "sh");
  return [...new Set(commands.map(({ heading }) => heading))];
}

const guides = (await documents()).filter((path) => path === "README.md" || path.startsWith(GUIDES));

describe("the shell commands of", () => {
  test.each(guides.filter((guide) => !(guide in TRIED_ELSEWHERE)))(
    "%s are all listed in this file",
    async (guide) => {
      expect(await headingsWithCommands(guide)).toEqual(Object.keys(COMMANDS[guide] ?? {}));
    },
  );

  test.each(
    Object.entries(COMMANDS).flatMap(([document, headings]) =>
      Object.entries(headings).flatMap(([heading, by]) =>
        typeof by === "string" ? [[document, heading, by]] : [],
      ),
    ),
  )("%s, %s are run by %s", async (_document = "", heading = "", by = "") => {
    expect(existsSync(join(ROOT, by))).toBe(true);
    expect(await Bun.file(join(ROOT, by)).text()).toContain(`"${heading}"`);
  });
});

test("README.md and the guides mark every block of shell commands as sh, so that this test finds it", async () => {
  const found = await Promise.all(
    guides.map(async (guide) => (await blocksOf(guide)).map((block) => ({ guide, ...block }))),
  );
  const hidden = found.flat().filter(({ language, text }) => {
    if (["bash", "shell", "console", "zsh"].includes(language)) return true;
    return language === "" && /^(\$|bun |curl |kubectl |docker )/m.test(text);
  });
  expect(hidden.map(({ guide, heading }) => `${guide}, ${heading}`)).toEqual([]);
});
