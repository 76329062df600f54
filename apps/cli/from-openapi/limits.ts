/** Reads the limits that extensions of Kong and APISIX set. */
import { isRecord } from "@ostiary/lib/domain/json";
import { type InlineRateLimit, RATE_LIMIT_WINDOW_SECONDS_MAX } from "@ostiary/lib/domain/routes";
import { commentText } from "./comment.ts";
import { type Description, type JsonObject, NotExpressed } from "./description.ts";

const KONG = "x-kong-plugin-rate-limiting";
const APISIX = "x-apisix-plugins";
/** The extensions that set limits. */
export const LIMITS = [KONG, APISIX] as const;

/** The limits of an operation, path or description, with what they do not say. */
export interface Limits {
  readonly limits: readonly InlineRateLimit[];
  readonly reasons: readonly string[];
}

const KONG_WINDOWS = {
  month: { period: "month" },
  day: { period: "day" },
  hour: { window_seconds: 3_600 },
  minute: { window_seconds: 60 },
  second: { window_seconds: 1 },
} as const;
/** The values of Kong's `limit_by` that count each caller, as routes do. */
const CALLERS: readonly unknown[] = [undefined, null, "consumer", "credential"];

/** Returns the limits that the extensions of an object set, or null without such an extension. */
export function limitsAt(holder: JsonObject, description: Description): Limits | null {
  const found = [
    ...(Object.hasOwn(holder, KONG)
      ? [read(() => kongLimits(description.fieldsOf(holder[KONG], ["config", "enabled"])))]
      : []),
    ...(Object.hasOwn(holder, APISIX)
      ? [read(() => apisixLimits(description.fieldsOf(holder[APISIX], ["limit-count"])))]
      : []),
  ].filter((each) => each !== null);
  if (found.length === 0) return null;
  return {
    limits: found.flatMap(({ limits }) => limits),
    reasons: found.flatMap(({ reasons }) => reasons),
  };
}

function read(extension: () => Limits | null): Limits | null {
  try {
    return extension();
  } catch (error) {
    if (error instanceof NotExpressed) return { limits: [], reasons: [`A limit: ${error.message}`] };
    throw error;
  }
}

function kongLimits({ config, enabled }: JsonObject): Limits {
  const settings = isRecord(config) ? config : {};
  if (enabled === false) return { limits: [], reasons: [] };
  const limits = Object.entries(KONG_WINDOWS).flatMap(([name, window]) =>
    isCount(settings[name]) ? [{ requests: settings[name], ...window }] : [],
  );
  const reasons: string[] = [];
  if (isCount(settings.year))
    reasons.push(`Kong's limit of ${settings.year} a year: the longest period is a month.`);
  if (limits.length + reasons.length === 0) reasons.push(`${KONG} without a number of requests.`);
  if (!CALLERS.includes(settings.limit_by)) {
    reasons.push(
      `Kong counts by ${commentText(settings.limit_by) || "something else"}: routes count callers.`,
    );
  }
  return { limits, reasons };
}

function apisixLimits({ "limit-count": plugin }: JsonObject): Limits | null {
  if (plugin === undefined) return null;
  const { count, time_window: window_seconds, key, group } = isRecord(plugin) ? plugin : {};
  if (!isCount(count) || !isCount(window_seconds) || window_seconds > RATE_LIMIT_WINDOW_SECONDS_MAX) {
    return { limits: [], reasons: ["limit-count of APISIX without a valid count and time_window."] };
  }
  const reasons: string[] = [];
  if (key !== undefined && key !== "consumer_name") {
    reasons.push(`APISIX counts by ${commentText(key) || "something else"}: routes count callers.`);
  }
  if (group !== undefined) reasons.push("APISIX counts a group of routes together: use a policy.");
  return { limits: [{ requests: count, window_seconds }], reasons };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
