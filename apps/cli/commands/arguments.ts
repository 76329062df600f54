import { InvalidArgumentError } from "commander";

/** A revision's number. */
export function parseRevision(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("A revision is a whole number from 1.");
  return Number(text);
}

/** A path as a client would request it. */
export function parsePath(text: string): string {
  if (!text.startsWith("/")) throw new InvalidArgumentError("A path starts with /.");
  return text;
}

/** A time to wait, in seconds. */
export function parseTimeout(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError("It is a whole number from 1 to 9999.");
  return Number(text);
}
