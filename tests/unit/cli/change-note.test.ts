import { describe, expect, test } from "bun:test";
import { changeNoteHeaders } from "@ostiary/lib/contracts/registry-api";
import { changeNote } from "../../../apps/cli/change-note-option.ts";

const headersIn = (env: Record<string, string>, given = {}) =>
  changeNoteHeaders(changeNote(given, (name) => env[name]));

const GITHUB = {
  GITHUB_ACTIONS: "true",
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "acme/widgets",
  GITHUB_RUN_ID: "17",
  GITHUB_WORKFLOW: "routes",
  GITHUB_REF_NAME: "main",
};
const GITLAB = {
  GITLAB_CI: "true",
  CI_COMMIT_TITLE: "Größere Grenzen",
  CI_PIPELINE_URL: "https://gitlab.example.com/acme/widgets/-/pipelines/3",
  CI_JOB_URL: "https://gitlab.example.com/acme/widgets/-/jobs/17",
};

// RG-119
describe("the reason and the link of a write from the command line", () => {
  test("are absent outside a pipeline", () => {
    expect(headersIn({})).toEqual({});
    expect(headersIn({ ...GITHUB, GITHUB_ACTIONS: "" })).toEqual({});
  });

  test("are the workflow and the run on GitHub", () => {
    expect(headersIn(GITHUB)).toEqual({
      "X-Change-Reason": "routes of main",
      "X-Change-Link": "https://github.com/acme/widgets/actions/runs/17",
    });
    expect(headersIn({ ...GITHUB, GITHUB_RUN_ID: "" })).toEqual({ "X-Change-Reason": "routes of main" });
  });

  test("are the commit title and the job on GitLab, encoded as UTF-8", () => {
    expect(headersIn(GITLAB)).toEqual({
      "X-Change-Reason": Buffer.from("Größere Grenzen").toString("latin1"),
      "X-Change-Link": GITLAB.CI_JOB_URL,
    });
    const { CI_JOB_URL: _, ...withoutJob } = GITLAB;
    expect(headersIn(withoutJob)["X-Change-Link"]).toBe(GITLAB.CI_PIPELINE_URL);
  });

  test("are those on the command line, even in a pipeline", () => {
    const given = { reason: "Fix the search", link: "https://tickets.example.com/7" };
    expect(headersIn(GITHUB, given)).toEqual({
      "X-Change-Reason": "Fix the search",
      "X-Change-Link": "https://tickets.example.com/7",
    });
  });

  test.each([
    ["a title of a thousand characters", { CI_COMMIT_TITLE: "x".repeat(1000) }, "x".repeat(512)],
    ["a title with control characters", { CI_COMMIT_TITLE: "a\r\nX-Evil: 1\u0000b" }, "a X-Evil: 1 b"],
  ])("from a pipeline are shortened to what the registry accepts: %s", (_, env, reason) => {
    expect(headersIn({ ...GITLAB, ...env })["X-Change-Reason"]).toBe(reason);
  });

  test.each([
    "javascript:alert(1)",
    "no address",
    "https://me:secret@example.com/",
    `https://e.com/${"x".repeat(2048)}`,
  ])("do not include the link %j of a pipeline", (CI_JOB_URL) => {
    expect(headersIn({ ...GITLAB, CI_JOB_URL })["X-Change-Link"]).toBeUndefined();
  });
});
