/** Writes a converted service as a configuration document with comments. */
import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { printableLine } from "./comment.ts";
import type { Converted, ConvertOptions, Entry, Verb } from "./convert.ts";
import { scopesOf } from "./convert.ts";
import { DEFAULT_SCOPE } from "./security.ts";

/** The maximum number of bytes of summaries, so that a registry takes a document with many long ones. */
const SUMMARIES_LENGTH_MAX = 524_288;

/** Returns a configuration document, with a comment for each part of the description that it does not express. */
export function documentText(converted: Converted, options: ConvertOptions): string {
  const { service, url, prefix, scope = DEFAULT_SCOPE } = options;
  const config = new YAMLMap();
  config.add(new Pair("url", url));
  const { policies } = converted;
  if (Object.keys(policies).length > 0) config.add(new Pair("rate_limits", flowMap(policies)));
  const scopes = scopesOf(converted);
  const summaries = { left: SUMMARIES_LENGTH_MAX };
  for (const each of scopes.length > 0 ? scopes : [scope]) {
    const routes = routesNode(
      converted.entries.filter((entry) => entry.scope === each),
      summaries,
    );
    const inScope = new YAMLMap();
    if (prefix !== undefined) inScope.add(new Pair("route_prefix", prefix));
    inScope.add(routes);
    config.add(new Pair(each, inScope));
  }
  const document = new Document({ services: mapOf(service, config) });
  document.commentBefore = commentLines([
    "Made from an OpenAPI description. Review it before you apply it: the scopes and labels decide who may call.",
    "An upstream such as /organizations/{subject.organization_id}/… shows a service whose data a request concerns.",
    ...converted.comments,
  ]);
  return document.toString({ lineWidth: 0 });
}

function mapOf(key: string, value: unknown): YAMLMap {
  const map = new YAMLMap();
  map.add(new Pair(key, value));
  return map;
}

/** Returns the pair `routes` of a scope. Comments without a later route stand behind the last one. */
function routesNode(entries: readonly Entry[], summaries: { left: number }): Pair {
  const key = new Scalar("routes");
  const routes = new YAMLSeq();
  let pending: string[] = [];
  for (const { comments, route } of entries) {
    pending.push(...comments);
    if (route === null) continue;
    const node = new YAMLMap();
    node.commentBefore = commentLines(pending);
    pending = [];
    node.add(new Pair("path", route.path));
    if (route.upstream !== undefined) node.add(new Pair("upstream", route.upstream));
    node.add(new Pair("methods", methodsNode(route.verbs, summaries)));
    routes.add(node);
  }
  if (routes.items.length > 0) routes.comment = commentLines(pending);
  else key.commentBefore = commentLines(pending);
  return new Pair(key, routes);
}

function methodsNode(verbs: readonly Verb[], summaries: { left: number }): YAMLMap {
  const methods = new YAMLMap();
  for (const { method, config, summary, comments } of verbs) {
    const key = new Scalar(method);
    summaries.left -= summary.length;
    const isSummed = summary !== "" && summaries.left >= 0;
    key.commentBefore = commentLines(isSummed ? [summary, ...comments] : comments);
    methods.add(new Pair(key, flowMap(config)));
  }
  return methods;
}

/** Returns a value as a map whose values stand on one line each. */
function flowMap(value: object): YAMLMap {
  const map = new YAMLMap();
  for (const [key, inside] of Object.entries(value)) {
    const node = new Document(inside).contents;
    if (node instanceof YAMLMap || node instanceof YAMLSeq) node.flow = true;
    map.add(new Pair(key, node));
  }
  return map;
}

/** Returns comments as lines. No text of a description can end its line, and so its comment. */
function commentLines(comments: readonly string[]): string | null {
  return comments.length === 0 ? null : comments.map((each) => ` ${printableLine(each)}`).join("\n");
}
