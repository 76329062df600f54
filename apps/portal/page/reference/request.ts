import { tryJson } from "@ostiary/lib/domain/json";
import { LIMIT_SET_HEADERS, RATE_LIMIT_HEADERS } from "@ostiary/lib/domain/ratelimit";
import { type CredentialHeader, curlCommand } from "@ostiary/lib/openapi";
import { type Call, type Caller, readBytes } from "../gateway.ts";
import { type BodyShape, isJson, type Operation, type Parameter } from "./description.ts";

/** An operation with what a person enters for a call of it. The body is null if the operation has none. */
export interface CallForm {
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
  readonly body: BodyShape | null;
}

/** The values that a person entered in the form of an operation: the parameters by their keys, and `body`. */
export type Inputs = Readonly<Record<string, string>>;

/** A call that is ready to send. */
export interface ReadyCall {
  readonly address: string;
  readonly call: Call & { method: Operation["method"] };
}

type InputProblem = "missing" | "dots" | "header" | "json";

/** Returns the problem of each input, or null. */
export function problemsOf(
  { parameters, body }: CallForm,
  inputs: Inputs,
): Record<string, InputProblem | null> {
  const found = parameters.map((each) => [each.key, problemOf(each, inputs[each.key] ?? "")] as const);
  return {
    ...Object.fromEntries(found),
    ...(body !== null && { body: problemOfBody(body, inputs.body ?? "") }),
  };
}

function problemOf({ place, required }: Parameter, value: string): InputProblem | null {
  if (value === "") return required ? "missing" : null;
  // Browsers resolve the segments "." and ".." even if they are escaped.
  if (place === "path" && /^\.{1,2}$/.test(value)) return "dots";
  return place === "header" && !/^[\x20-\x7e]+$/.test(value) ? "header" : null;
}

function problemOfBody({ type, required }: BodyShape, text: string): InputProblem | null {
  if (text.trim() === "") return required ? "missing" : null;
  return isJson(type) && tryJson(text) === undefined ? "json" : null;
}

/** Builds the call of an operation, whose inputs have no problem. */
export function readyCall({ operation, parameters, body }: CallForm, inputs: Inputs): ReadyCall {
  const { method, path, caller } = operation;
  const { body: text = "" } = inputs;
  const given = (wanted: Parameter["place"]) =>
    parameters.flatMap(({ place, name, key }): [string, string][] => {
      const value = (inputs[key] ?? "").toWellFormed();
      return place === wanted && value !== "" ? [[name, value]] : [];
    });
  const content = body !== null && text.trim() !== "" ? { type: body.type, text } : undefined;
  return {
    address: addressOf(path, new Map(given("path")), given("query")),
    call: { as: caller, method, headers: Object.fromEntries(given("header")), content },
  };
}

function addressOf(path: string, params: ReadonlyMap<string, string>, query: [string, string][]): string {
  const filled = path.replace(/\{([^{}]+)\}/g, (_, name: string) =>
    encodeURIComponent(params.get(name) ?? ""),
  );
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`;
}

/** The header with the credential in a curl command, which reads the credential from a shell variable. */
const CREDENTIALS: Readonly<Record<Caller, CredentialHeader | null>> = {
  member: { name: "X-API-Key", variable: "API_KEY" },
  person: { name: "Authorization", isBearer: true, variable: "TOKEN" },
  nobody: null,
};

/** Returns the curl command of a call. A missing required value is replaced with its example or its name. */
export function curlOf(form: CallForm, inputs: Inputs, origin: string): string {
  const values = form.parameters.map((each) => [each.key, shownValue(each, inputs[each.key])]);
  const { address, call } = readyCall(form, { ...inputs, ...Object.fromEntries(values) });
  const { content, headers = {}, method } = call;
  return curlCommand({
    method,
    origin,
    target: address,
    credential: CREDENTIALS[form.operation.caller],
    headers: [...(content ? [["Content-Type", content.type] as const] : []), ...Object.entries(headers)],
    body: content?.text ?? null,
  });
}

function shownValue(parameter: Parameter, value = ""): string {
  const { required, example, name } = parameter;
  const candidates = [value, ...(required ? [example, name.toUpperCase()] : [])];
  return candidates.find((each) => each !== "" && problemOf(parameter, each) === null) ?? "";
}

export const SHOWN_BYTES_MAX = 1024 * 1024;

export type ShownResponse = Awaited<ReturnType<typeof readResponse>>;

const HEADERS = [
  ...Object.values(RATE_LIMIT_HEADERS),
  LIMIT_SET_HEADERS.limits,
  LIMIT_SET_HEADERS.policies,
  "Retry-After",
  "X-Request-ID",
  "Content-Type",
  "Location",
  "ETag",
];
const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.+-]*[+.])?(?:json|xml|yaml|x-ndjson|x-www-form-urlencoded|javascript|jwt))/i;
const INDENTED_LENGTH_MAX = 65_536;

/** Reads a response up to the size limit. If the download fails, returns what arrived, with `cut` set. */
export async function readResponse({ status, headers, body }: Response) {
  const { bytes, cut } = await readBytes(body, SHOWN_BYTES_MAX);
  const isText = TEXT_TYPE.test(headers.get("content-type") ?? "text/plain");
  return {
    status,
    headers: HEADERS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name.toLowerCase(), value] as const];
    }),
    bytes: bytes.length,
    text: isText ? laidOut(new TextDecoder().decode(bytes)) : null,
    cut,
  };
}

/** Indents JSON. Returns a text unchanged if it is long or not JSON. */
function laidOut(text: string): string {
  const value = text.length > INDENTED_LENGTH_MAX ? undefined : tryJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}
