/** Returns the value of an environment variable. */
type ReadVariable = (name: string) => string | undefined;

const REASON_LENGTH_MAX = 512;
const LINK_LENGTH_MAX = 2_048;

/** The reason and the link that the command line sends with each write, by header. */
export type ChangeNoteHeaders = Readonly<Record<string, string>>;

/** The texts that a person gave, which the registry checks. */
export interface GivenNote {
  readonly reason?: string;
  readonly link?: string;
}

/**
 * Returns the headers that say why a write is made: what the person gave, else what a pipeline of GitHub or
 * GitLab says of itself. Text of a pipeline is cut to what the registry accepts, so that it never breaks a
 * write.
 */
export function changeNoteHeaders(given: GivenNote, variable: ReadVariable): ChangeNoteHeaders {
  const pipeline = pipelineNote(variable);
  const reason = given.reason ?? acceptedReason(pipeline.reason);
  const link = given.link ?? acceptedLink(pipeline.link);
  return {
    ...(reason !== undefined && { "X-Change-Reason": asBytes(reason) }),
    ...(link !== undefined && { "X-Change-Link": asBytes(link) }),
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
  const isAccepted =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === "" &&
    url.password === "" &&
    url.href.length <= LINK_LENGTH_MAX;
  return isAccepted ? url.href : undefined;
}

/** Returns a text as the value of a header: `fetch` takes a character for each byte. */
function asBytes(text: string): string {
  return Buffer.from(text.replace(/\p{Cc}+/gu, " ")).toString("latin1");
}
