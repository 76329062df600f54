/** Messages about route configuration that several files give. */
import { quoted } from "../errors/index.ts";
import {
  DOCUMENT_BYTES_MAX,
  PATH_BYTES_MAX,
  RATE_LIMIT_WINDOW_SECONDS_MAX,
  SERVICE_CONFIG_BYTES_MAX,
  TESTS_MAX,
} from "./maximum-sizes.ts";

/** The end of messages about slugs. */
export const SLUG_CHARACTERS = "characters: lower-case letters, digits, `:`, `.`, `_` and `-`.";
export const NAMED_BY_DOTS = "A service cannot be named `.` or `..`: no URL could address it.";
export const SERVICE_TOO_LARGE = `A service can have at most ${SERVICE_CONFIG_BYTES_MAX} bytes of JSON: split the service into several.`;
export const DOCUMENT_TOO_LARGE = `The services of a document can have at most ${DOCUMENT_BYTES_MAX} bytes of JSON in stored form: send several documents.`;
export const PATH_TOO_LONG = `A path can have at most ${PATH_BYTES_MAX} bytes, including the route_prefix.`;

export const TOO_MANY_TESTS = `A service can have at most ${TESTS_MAX} tests, including its tests from the top of the document.`;
export const testNamedTwice = (name: string) =>
  `Another test has the name ${quoted(name)}: choose another name.`;

/** Returns the message for a field that is missing or is not `what`. */
export const fieldMessage = (name: string, what: string) => (value: unknown) =>
  `${value === undefined ? `Set ${name}:` : `${name} must be`} ${what}.`;

export function windowMessage(value: unknown): string {
  const number = `a whole number above 0, at most ${RATE_LIMIT_WINDOW_SECONDS_MAX}`;
  return value === undefined
    ? `Set window_seconds: ${number}; or set period: day or month.`
    : `window_seconds must be ${number}.`;
}

export const noPolicyMessage = (name: string) =>
  `This service has no policy ${quoted(name)}: define it under rate_limits.`;
