/** A name of a log: the first line of its signed roots. */
const LOG_ORIGIN = /^[!-*,-~]{1,255}$/;

export const LOG_ORIGIN_RULE = "must be 1 to 255 visible ASCII characters without a plus sign";

export function isLogOrigin(text: string): boolean {
  return LOG_ORIGIN.test(text);
}
