import { type ConfigProblem, listItems, optionalText } from "@ostiary/lib/runtime/config";
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { type TargetConfig, targetRulesOf, urlProblem } from "../../receivers/targets.ts";
import type { Beginning } from "./operator-stream-sql.ts";

const SECRETS_MAX = 2;
const SECRET_RULE =
  "must be whsec_ with the output of openssl rand -base64 32, or two such secrets separated by a comma";
/** The lengths of a secret that Standard Webhooks allows. */
const [SECRET_BYTES_MIN, SECRET_BYTES_MAX] = [24, 64];

/** The environment variables of the operator's own stream (AU-112). */
export const operatorStreamVariables = {
  AUDIT_OPERATOR_STREAM_URL: optionalText("must be a URL that a stream may call", {
    description:
      "The receiver of the operator's own stream, which gets the events of all organizations. Needs AUDIT_OPERATOR_STREAM_SECRET.",
  }),
  AUDIT_OPERATOR_STREAM_SECRET: optionalText(SECRET_RULE, {
    secret: true,
    check: (text) => isSecrets(text),
    description:
      "The secret that signs the calls of the operator's own stream. During a rotation, set the new and the old secret, separated by a comma; each call has both signatures.",
  }),
  AUDIT_OPERATOR_STREAM_FORMAT: Type.Union([Type.Literal("ostiary"), Type.Literal("ocsf")], {
    default: "ostiary",
    rule: "must be ostiary or ocsf",
    description: "ostiary: entries with their proof. ocsf: API Activity of the Open Cybersecurity Schema.",
  }),
  AUDIT_OPERATOR_STREAM_FROM: Type.Union([Type.Literal("now"), Type.Literal("start")], {
    default: "now",
    rule: "must be now or start",
    description:
      "Where the operator's own stream begins when it is set up: with new events, or with the oldest ones.",
  }),
};

export interface OperatorStreamSettings {
  url: string;
  secrets: readonly string[];
  format: "ostiary" | "ocsf";
  from: Beginning;
}

type OperatorStreamConfig = Static<TObject<typeof operatorStreamVariables>>;

export function operatorStreamOf(config: OperatorStreamConfig): OperatorStreamSettings | null {
  const { AUDIT_OPERATOR_STREAM_URL: url, AUDIT_OPERATOR_STREAM_SECRET: secret } = config;
  if (url === undefined || secret === undefined) return null;
  const { AUDIT_OPERATOR_STREAM_FORMAT: format, AUDIT_OPERATOR_STREAM_FROM: from } = config;
  return { url, secrets: listItems(secret), format, from };
}

/**
 * Returns the problems of the environment variables of the operator's stream. A check for `loadConfig`.
 */
export function checkOperatorStream(config: Partial<OperatorStreamConfig & TargetConfig>): ConfigProblem[] {
  const { AUDIT_OPERATOR_STREAM_URL: url, AUDIT_OPERATOR_STREAM_SECRET: secret } = config;
  const needs = (variable: string, other: string) => [
    { variable, message: `is required if ${other} is set.` },
  ];
  if (url === undefined) {
    return secret === undefined ? [] : needs("AUDIT_OPERATOR_STREAM_URL", "AUDIT_OPERATOR_STREAM_SECRET");
  }
  const problem = urlProblem(url, targetRulesOf(config))?.replace(/^url /, "");
  return [
    ...(problem === undefined ? [] : [{ variable: "AUDIT_OPERATOR_STREAM_URL", message: problem }]),
    ...(secret === undefined ? needs("AUDIT_OPERATOR_STREAM_SECRET", "AUDIT_OPERATOR_STREAM_URL") : []),
  ];
}

function isSecrets(text: string): boolean {
  const secrets = listItems(text);
  return secrets.length > 0 && secrets.length <= SECRETS_MAX && secrets.every(isSecret);
}

function isSecret(text: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? "";
  const bytes = Buffer.from(encoded, "base64");
  return (
    bytes.toString("base64") === encoded &&
    bytes.length >= SECRET_BYTES_MIN &&
    bytes.length <= SECRET_BYTES_MAX
  );
}
