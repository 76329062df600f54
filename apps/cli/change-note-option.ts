import { type GivenNote, isChangeLink, REASON_LENGTH_MAX } from "@ostiary/lib/contracts/registry-api";
import type { ReadVariable } from "./profiles.ts";

/**
 * Returns the reason and the link of a write. Values that the person sets take precedence over those of a GitHub or
 * GitLab pipeline. A pipeline's reason is shortened if the registry would refuse it. A pipeline's link is left out if
 * the registry would refuse it.
 */
export function changeNote(given: GivenNote, variable: ReadVariable): GivenNote {
  const pipeline = pipelineNote(variable);
  return {
    reason: given.reason ?? acceptedReason(pipeline.reason),
    link: given.link ?? acceptedLink(pipeline.link),
  };
}

function pipelineNote(variable: ReadVariable): GivenNote {
  if (variable("GITHUB_ACTIONS") === "true") {
    const [workflow, ref] = [variable("GITHUB_WORKFLOW"), variable("GITHUB_REF_NAME")];
    const run = ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"].map(variable);
    const [server, repository, id] = run;
    return {
      reason: [workflow, ref].filter(Boolean).join(" of "),
      ...(run.every(Boolean) && { link: `${server}/${repository}/actions/runs/${id}` }),
    };
  }
  if (variable("GITLAB_CI") === "true") {
    return {
      reason: variable("CI_COMMIT_TITLE"),
      link: variable("CI_JOB_URL") ?? variable("CI_PIPELINE_URL"),
    };
  }
  return {};
}

function acceptedReason(text: string | undefined): string | undefined {
  const whole = (text ?? "").replace(/\p{Cc}+/gu, " ").trim();
  const cut = [...whole].slice(0, REASON_LENGTH_MAX).join("").trim();
  return cut === "" ? undefined : cut;
}

function acceptedLink(text: string | undefined): string | undefined {
  const url = URL.parse(text ?? "");
  return url !== null && isChangeLink(url.href) ? url.href : undefined;
}
