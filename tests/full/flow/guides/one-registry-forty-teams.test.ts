/**
 * Tests of one-registry-forty-teams.md: its operators file, commands and pipelines. A stand-in signs the
 * tokens.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { environmentOf } from "../../../app/cli/bed.ts";
import { clientOf, service as configOf, type Registry, startRegistry } from "../../../app/registry/bed.ts";
import { OperatorProvider } from "../../../app/registry/operators.ts";
import { blocksOf, commandsOf } from "../../../support/documents/documents.ts";
import { waitFor } from "../../../support/index.ts";
import { pathWith, scriptOf } from "../../../support/processes/path-with.ts";
import { runBash } from "../../../support/processes/run-to-end.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const GUIDE = ".github/guides/one-registry-forty-teams.md";
const FILE = "The file of operators";
const OWNER = "5550001";

/** Returns a config at an address of the team that the path names. */
const service = (path: string) => ({
  ...configOf(path),
  url: path.startsWith("/org/widgets") ? "http://api.widgets.internal:8080" : "http://invoices.internal:8080",
});

const PATH = pathWith({ ostiary: scriptOf("apps/cli/main.ts") });

let folder: string;
let provider: OperatorProvider;
let issuer: string;
let registry: Registry;
/** A stand-in for GitHub's endpoint where a job requests its token. */
let github: Bun.Server<undefined>;

/** The claims in the token of each job, by the secret with which the job requests the token. */
const jobs: Record<string, Record<string, unknown>> = {
  widgets: { repository: "acme/widgets", environment: "production" },
  feature: { repository: "acme/widgets", environment: "staging" },
  invoices: { repository: "acme/invoices", environment: "production" },
  unknown: { repository: "acme/widgets", environment: "production", repository_owner_id: "666" },
};

const blockOf = async (heading: string, language: string, index = 0) =>
  (await blocksOf(GUIDE)).filter((block) => block.heading === heading && block.language === language)[index]
    ?.text ?? "";

beforeAll(async () => {
  folder = temporaryFolder("teams");
  await writeFile(join(folder, "operators.yaml"), await blockOf(FILE, "yaml"));
  provider = await OperatorProvider.start();
  const variables = Object.fromEntries(
    (await blockOf(FILE, "sh", 1))
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  issuer = variables.OPERATOR_ISSUER ?? "";
  registry = await startRegistry({
    env: {
      ...variables,
      OPERATORS_FILE: join(folder, "operators.yaml"),
      OPERATOR_JWKS_URI: provider.standIn.uri,
    },
  });
  await waitFor(() => provider.standIn.fetches() > 0);
  github = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const secret = request.headers.get("authorization")?.replace("bearer ", "") ?? "";
      const job = jobs[secret];
      if (job === undefined) return new Response(null, { status: 401 });
      const aud = new URL(request.url).searchParams.get("audience") ?? undefined;
      const sub = `repo:${job.repository}`;
      const claims = { iss: issuer, aud, sub, repository_owner_id: OWNER, ...job };
      return Response.json({ value: await provider.token(claims) });
    },
  });
});
afterAll(async () => {
  await Promise.all([registry?.stop(), provider?.standIn.stop(), github?.stop(true)]);
});

/** Runs a shell script in a folder with these documents under `routes`. */
async function run(
  script: string,
  variables: Record<string, string>,
  documents: Record<string, object> = {},
) {
  const directory = temporaryFolder("checkout");
  await mkdir(join(directory, "routes"));
  for (const [name, services] of Object.entries(documents)) {
    await writeFile(join(directory, "routes", `${name}.yaml`), JSON.stringify({ services }));
  }
  await Bun.write(join(directory, "operators.yaml"), Bun.file(join(folder, "operators.yaml")));
  const { ADMIN_TOKEN: _, ...environment } = environmentOf(registry.url);
  const env = { ...environment, PATH, HOME: directory, ...variables };
  return runBash(script, directory, env);
}

/** Runs the publish step of the guide's GitHub workflow. The step requests its token with `secret`. */
async function publish(secret: string, services: Record<string, object>) {
  const { jobs: described } = parse(await blockOf("GitHub", "yaml"));
  const step = described.publish.steps.find(({ name }: { name?: string }) => name === "Publish");
  const variables = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${github.url}token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret,
    GITHUB_ACTIONS: "true",
    GITHUB_WORKFLOW: "routes",
    GITHUB_REF_NAME: "main",
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_REPOSITORY: `acme/${secret}`,
    GITHUB_RUN_ID: "7",
  };
  return run(step.run.replace(" --wait", ""), variables, { all: services });
}

// RG-124, RG-126
describe("one-registry-forty-teams.md", () => {
  test("has an operators file that its check command accepts for its issuer", async () => {
    const [check = ""] = await commandsOf(GUIDE, FILE);
    const { exitCode, output } = await run(check, {});
    expect([exitCode, output]).toEqual([0, "The file is valid and lists 4 operators.\n"]);
    expect(check).toContain(issuer);
  });

  test("lets a GitHub job publish its team's services, and lists who published them", async () => {
    const { permissions } = parse(await blockOf("GitHub", "yaml"));
    expect(permissions["id-token"]).toBe("write");
    const widgets = { widgets: service("/org/widgets"), "widgets-export": service("/org/widgets/export") };
    expect((await publish("widgets", widgets)).exitCode).toBe(0);
    const [list = ""] = await commandsOf(GUIDE, "Who did it");
    const { exitCode, output } = await run(list, { ADMIN_TOKEN: "test-admin-token" });
    expect(exitCode).toBe(0);
    expect(output).toContain("team-widgets");
    expect(output).toContain("https://github.com/acme/widgets/actions/runs/7");
  });

  test("refuses another team's service or path, and writes nothing", async () => {
    const revisionsOf = async () =>
      (await clientOf(registry.url).call("GET", "/changes")).body.changes.length;
    const before = await revisionsOf();
    const { exitCode, output } = await publish("invoices", {
      invoices: service("/org/invoices"),
      "widgets-stolen": service("/org/invoices/widgets"),
      "invoices-more": service("/org/invoices/more"),
    });
    expect(exitCode).toBe(1);
    expect(output).toContain("Operator team-invoices may not publish service");
    expect(await revisionsOf()).toBe(before);
  });
});
