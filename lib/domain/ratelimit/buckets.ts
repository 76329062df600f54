/**
 * The names of rate-limit buckets (GW-66, GW-67).
 *
 * A key is a prefix, computed when routes load, followed by the subject of the request. The first word of a
 * prefix is the kind of bucket. Each part of a prefix is escaped, so no service, policy or path can produce
 * the prefix of another bucket. Braces are escaped too: Redis Cluster would treat `{name}` of a path param as
 * a hash tag, and put all keys of the route into one slot.
 */
export type Bucket =
  /** A route with an inline limit or the gateway's default limit: one bucket for each method and full path. */
  | { kind: "route"; method: string; path: string }
  | { kind: "local"; service: string; policy: string }
  /** A named policy that is shared by every service that declares it. */
  | { kind: "shared"; policy: string }
  /** The failed-authentication limiter; its subject is the client address, or its /64. */
  | { kind: "denied" };

/** Returns the part of a counter's key before the subject. Called when routes load, not for each request. */
export function bucketPrefix(bucket: Bucket): string {
  switch (bucket.kind) {
    case "route":
      return `route:${escapePart(bucket.method)}:${escapePart(bucket.path)}:`;
    case "local":
      return `local:${escapePart(bucket.service)}:${escapePart(bucket.policy)}:`;
    case "shared":
      return `shared:${escapePart(bucket.policy)}:`;
    case "denied":
      return "denied:";
  }
}

/**
 * Returns the counter's key: the prefix, followed by the subject. The subject is a user, organization or
 * member id, or a client address.
 *
 * @param isSpread whether keys are spread over servers. If so, braces put all keys of a subject into one
 * slot.
 */
export function bucketKey(prefix: string, subject: string, isSpread = false): string {
  return isSpread ? `${prefix}{${subject}}` : prefix + subject;
}

/** Returns the name of the policy in a prefix, or null for a bucket without a policy. */
export function policyIn(prefix: string): string | null {
  const [kind, first = "", second = ""] = prefix.split(":");
  if (kind === "local") return decodeURIComponent(second);
  return kind === "shared" ? decodeURIComponent(first) : null;
}

/** Parses a prefix without its last colon. Returns null for any other text. */
export function bucketNamed(name: string): Bucket | null {
  const [kind, first = "", second = ""] = name.split(":");
  try {
    const [one, two] = [decodeURIComponent(first), decodeURIComponent(second)];
    if (kind === "local") return { kind, service: one, policy: two };
    if (kind === "shared") return { kind, policy: one };
    return kind === "route" ? { kind, method: one, path: two } : null;
  } catch {
    return null;
  }
}

function escapePart(part: string): string {
  return part.replace(/[%:{}]/g, encodeURIComponent);
}
