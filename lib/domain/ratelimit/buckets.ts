/**
 * Names of rate-limit buckets (Gateway specification, Rate limiting; contract 4).
 *
 * A key is a prefix, known when routes are loaded, and the subject of the request, always last. The first
 * word of a prefix tells the kinds apart. Inside a prefix every character that separates parts is escaped, so
 * no choice of service, policy or path can spell the prefix of another bucket. Braces are escaped as well:
 * Redis Cluster would take the name of a path param for a hash tag and put all its keys into one slot.
 */
export type Bucket =
  /** A route whose limit is inherited or written inline: one bucket per method and full path. */
  | { kind: "route"; method: string; path: string }
  /** A named policy of one service. */
  | { kind: "local"; service: string; policy: string }
  /** A named policy that every service declaring the name shares. */
  | { kind: "shared"; policy: string }
  /** The failed-authentication limiter; its subject is the client address. */
  | { kind: "denied" };

/** What stands before the subject in the keys of `bucket`. Work for load time, not for the request. */
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

/** The counter's key: a user, organization or member id, or a client address, after the bucket's prefix. */
export function bucketKey(prefix: string, subject: string): string {
  return prefix + subject;
}

const ESCAPES: Readonly<Record<string, string>> = { "%": "%25", ":": "%3A", "{": "%7B", "}": "%7D" };

function escapePart(part: string): string {
  return part.replace(/[%:{}]/g, (character) => ESCAPES[character] ?? character);
}
