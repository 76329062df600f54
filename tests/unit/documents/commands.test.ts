/**
 * Checks that a test runs each shell command of README.md and of the guides, or that this file says why no
 * test does.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { blocksOf, documents } from "../../support/documents/documents.ts";
import { ROOT } from "../../support/root.ts";

interface NotRun {
  why: string;
}

const GUIDES = ".github/guides/";

/** The test that runs the commands of each document, as a path from `tests/full/flow`. */
const TESTS: Record<string, string> = {
  "README.md": "../../full/flow/quick-start/readme-commands.test.ts",
  [`${GUIDES}audit-streams.md`]: "guides/audit-streams.test.ts",
  [`${GUIDES}backup-and-restore.md`]: "guides/backup-and-restore.test.ts",
  [`${GUIDES}bill-customers.md`]: "guides/bill-customers.test.ts",
  [`${GUIDES}checks-before-publishing.md`]: "guides/checks-before-publishing.test.ts",
  [`${GUIDES}choosing-limits.md`]: "guides/choosing-limits.test.ts",
  [`${GUIDES}customer-portal.md`]: "guides/customer-portal.test.ts",
  [`${GUIDES}identity-providers.md`]: "guides/identity-providers.test.ts",
  [`${GUIDES}kubernetes.md`]: "guides/kubernetes.test.ts",
  [`${GUIDES}lifecycle-feed.md`]: "guides/lifecycle-feed.test.ts",
  [`${GUIDES}one-registry-forty-teams.md`]: "guides/one-registry-forty-teams.test.ts",
  [`${GUIDES}several-issuers.md`]: "guides/several-issuers.test.ts",
  [`${GUIDES}upgrading.md`]: "guides/upgrading.test.ts",
  [`${GUIDES}ten-minutes.md`]: "guides/ten-minutes.test.ts",
  [`${GUIDES}witnesses.md`]: "guides/witnesses.test.ts",
};

/** The headings whose commands another test runs, or the reason why no test does. */
const EXCEPTIONS: Record<string, Record<string, string | NotRun>> = {
  "README.md": {
    Start: {
      why: "tests/full/flow/quick-start/tour-embedded.test.ts starts the platform, and .ci/run installs",
    },
    Test: { why: "the command runs this test itself" },
    "How fast it is": { why: "it takes an hour, and the numbers depend on the machine" },
  },
  [`${GUIDES}backup-and-restore.md`]: { "To a point in time": "guides/point-in-time.test.ts" },
  [`${GUIDES}identity-providers.md`]: {
    Keycloak: { why: "it needs Keycloak; the other provider of the guide takes the same way" },
    "When it does not work": { why: "tests/app/gateway proves the metric that it reads" },
  },
  [`${GUIDES}kubernetes.md`]: {
    "1. The image": { why: "it needs a Docker engine" },
    "5. Start": {
      why: "it needs a cluster; the test checks the manifests against the schemas of the services and of Kubernetes",
    },
    "6. Publish what customers reach of identity and audit": {
      why: "README.md has the same commands, and its test runs them",
    },
  },
  [`${GUIDES}upgrading.md`]: {
    "Try it": { why: "it takes minutes" },
  },
};

/** Guides whose commands no test runs, with the reason. */
const TRIED_ELSEWHERE: Record<string, NotRun> = {
  [`${GUIDES}capacity.md`]: { why: "its figures come from the benchmarks" },
  [`${GUIDES}clusters.md`]: { why: "tests/full/resilience breaks the clusters that it describes" },
  [`${GUIDES}one-machine-systemd.md`]: { why: "it needs systemd and its users" },
  [`${GUIDES}one-process.md`]: { why: "it needs systemd and its users, or a Docker engine" },
  [`${GUIDES}production-compose.md`]: { why: "it needs a Docker engine" },
};

async function headingsWithCommands(document: string): Promise<string[]> {
  const commands = (await blocksOf(document)).filter(({ language }) => language === "sh");
  return [...new Set(commands.map(({ heading }) => heading))];
}

const guides = (await documents()).filter((path) => path === "README.md" || path.startsWith(GUIDES));
const headings = await Promise.all(
  guides
    .filter((guide) => !(guide in TRIED_ELSEWHERE))
    .map(async (guide) => (await headingsWithCommands(guide)).map((heading) => ({ guide, heading }))),
);

describe("shell commands", () => {
  test.each(headings.flat())(
    "of $guide, $heading are run by a test, or there is a reason why not",
    async ({ guide, heading }) => {
      const by = EXCEPTIONS[guide]?.[heading] ?? TESTS[guide];
      if (typeof by === "object") return expect(by.why).not.toBe("");
      const text = await Bun.file(join(ROOT, "tests/full/flow", by ?? "none")).text();
      expect(text).toContain(`"${heading}"`);
    },
  );

  test.each(
    Object.entries(EXCEPTIONS).flatMap(([guide, each]) =>
      Object.keys(each).map((heading) => ({ guide, heading })),
    ),
  )("exist in $guide, $heading, which is listed as an exception", (exception) => {
    expect(headings.flat()).toContainEqual(exception);
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
