import { describe, expect, test } from "bun:test";
import { sha256Of } from "@ostiary/lib/runtime/config/operators-file";
import { service } from "../registry/bed.ts";
import { useCli } from "./bed.ts";

const { cli, file, registry } = useCli();

const document = (name: string) => JSON.stringify({ services: { [name]: service(`/${name}`) } });

// RG-119, RG-120
describe("a write from the command line", () => {
  test("records its reason and link, which `changes` and `revisions` show", async () => {
    const path = await file("noted.json", document("noted"));
    const note = ["--reason", "Größere Grenzen", "--link", "https://tickets.example.com/7"];
    expect((await cli(["apply", path, ...note])).exitCode).toBe(0);
    expect((await cli(["delete", "noted", "--yes", ...note])).exitCode).toBe(0);
    const changes = await cli(["changes", "--service", "noted"]);
    expect(changes.exitCode).toBe(0);
    expect(changes.stdout).toMatch(/^SERVICE +REVISION +ACTION +OPERATOR +CREATED +REASON +LINK\n/);
    expect(changes.stdout).toMatch(/^noted +2 +delete +admin .*Größere Grenzen +https:\/\/tickets/m);
    const revisions = await cli(["revisions", "noted"]);
    expect(revisions.stdout).toMatch(/^1 +apply .* admin +Größere Grenzen +https:\/\/tickets/m);
  });

  test("records the title and URL of the pipeline that runs it", async () => {
    const path = await file("piped.json", document("piped"));
    const env = {
      GITLAB_CI: "true",
      CI_COMMIT_TITLE: "Publish piped",
      CI_JOB_URL: "https://gitlab.example.com/acme/piped/-/jobs/17",
    };
    expect((await cli(["apply", path], { env })).exitCode).toBe(0);
    const { body } = await registry.call("GET", "/changes?service=piped");
    expect(body.changes[0]).toMatchObject({
      operator: "admin",
      reason: "Publish piped",
      link: env.CI_JOB_URL,
    });
  });
});

// RG-120
describe("changes", () => {
  test("filters, and writes the registry's response as JSON", async () => {
    await registry.put("listed", service("/listed"));
    const { stdout } = await cli(["changes", "--service", "listed", "--operator", "admin", "--json"]);
    expect(JSON.parse(stdout)).toEqual((await registry.call("GET", "/changes?service=listed")).body);
    const none = await cli(["changes", "--service", "listed", "--since", "2999-01-01T00:00:00Z"]);
    expect([none.exitCode, none.stdout]).toEqual([0, "No changes.\n"]);
  });

  test.each(["0", "101", "all"])("--limit %s is wrong usage", async (limit) => {
    expect((await cli(["changes", "--limit", limit])).exitCode).toBe(2);
  });
});

// RG-111
describe("operators check", () => {
  test("counts the operators of a valid file, without a registry or token", async () => {
    const path = await file(
      "operators.yaml",
      `operators:
  - name: team-widgets
    role: publisher
    services: [widgets]
    paths: [/org/widgets]
    urls: ["http://*.widgets.internal:*"]
    token_sha256: ["${sha256Of("token")}"]
`,
    );
    const { exitCode, stdout } = await cli(["operators", "check", path], {
      env: { ADMIN_TOKEN: "", REGISTRY_URL: "" },
    });
    expect([exitCode, stdout]).toEqual([0, "The file is valid and lists 1 operator.\n"]);
  });

  // RG-124
  test("checks claims against the issuer of --issuer", async () => {
    const path = await file(
      "claims.yaml",
      "operators:\n  - name: docs\n    role: reader\n    claims: { ref: refs/heads/main }\n",
    );
    const { stdout } = await cli(["operators", "check", path, "--json"]);
    expect(JSON.parse(stdout)).toEqual({ operators: 1 });
    const issuer = "https://token.actions.githubusercontent.com";
    const refused = await cli(["operators", "check", path, "--issuer", issuer]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining("line 4: operators[0].claims"),
    ]);
  });
});
