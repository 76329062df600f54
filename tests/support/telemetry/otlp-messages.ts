import protobuf from "protobufjs";

/** The OTLP messages and fields that tests read. The field numbers are those of the public .proto files. */
const MESSAGES = `
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Status { string message = 2; int32 code = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
  int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; Status status = 15;
}
message ScopeSpans { repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message TraceRequest { repeated ResourceSpans resource_spans = 1; }
message NumberPoint {
  repeated KeyValue attributes = 7; fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3;
  oneof value { double as_double = 4; sfixed64 as_int = 6; }
}
message HistogramPoint {
  repeated KeyValue attributes = 9; fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3;
  fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;
}
message Gauge { repeated NumberPoint data_points = 1; }
message Sum { repeated NumberPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Histogram { repeated HistogramPoint data_points = 1; int32 aggregation_temporality = 2; }
message Metric {
  string name = 1; string description = 2;
  oneof data { Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
}
message ScopeMetrics { repeated Metric metrics = 2; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message MetricsRequest { repeated ResourceMetrics resource_metrics = 1; }
`;

export type Attributes = Record<string, string | number | boolean>;
type AttributeList = readonly { key: string; value: Attributes }[];

/** The fields of a span that are read as the message has them. */
interface SpanFields {
  trace_id: string;
  span_id: string;
  parent_span_id: string;
  trace_state: string;
  name: string;
  kind: number;
}

interface SpanMessage extends SpanFields {
  start_time_unix_nano: number;
  end_time_unix_nano: number;
  attributes: AttributeList;
  status: ReceivedSpan["status"] | null;
}

export interface ReceivedSpan extends SpanFields {
  resource: Attributes;
  durationNs: number;
  attributes: Attributes;
  /** The status of the span. Its code is 0 for unset, 1 for ok and 2 for error. */
  status: { code: number; message: string };
}

interface Point {
  attributes: AttributeList;
  start_time_unix_nano: number;
  time_unix_nano: number;
}
type NumberPoint = Point & { as_double: number };
type HistogramPoint = Point &
  Record<"count" | "sum", number> &
  Record<"bucket_counts" | "explicit_bounds", number[]>;

interface MetricMessage {
  name: string;
  description: string;
  gauge?: { data_points: NumberPoint[] };
  sum?: { data_points: NumberPoint[]; aggregation_temporality: number; is_monotonic: boolean };
  histogram?: { data_points: HistogramPoint[]; aggregation_temporality: number };
}

export type ReceivedMetric = MetricMessage & { resource: Attributes };

interface Resource {
  resource: { attributes: AttributeList };
}
type ResourceSpans = Resource & { scope_spans: { spans: SpanMessage[] }[] };
type ResourceMetrics = Resource & { scope_metrics: { metrics: MetricMessage[] }[] };

const root = protobuf.parse(MESSAGES, { keepCase: true }).root;
const traceRequest = root.lookupType("TraceRequest");
const metricsRequest = root.lookupType("MetricsRequest");
const OBJECTS = { longs: Number, bytes: String, defaults: true };

export function decodeSpans(body: Uint8Array): ReceivedSpan[] {
  const request = traceRequest.toObject(traceRequest.decode(body), OBJECTS);
  const all: ResourceSpans[] = request.resource_spans;
  return all.flatMap(({ resource, scope_spans }) =>
    scope_spans.flatMap(({ spans }) =>
      spans.map(({ start_time_unix_nano, end_time_unix_nano, ...span }) => ({
        ...span,
        resource: attributesOf(resource.attributes),
        trace_id: hex(span.trace_id),
        span_id: hex(span.span_id),
        parent_span_id: hex(span.parent_span_id),
        durationNs: end_time_unix_nano - start_time_unix_nano,
        attributes: attributesOf(span.attributes),
        status: span.status ?? { code: 0, message: "" },
      })),
    ),
  );
}

export function decodeMetrics(body: Uint8Array): ReceivedMetric[] {
  const request = metricsRequest.toObject(metricsRequest.decode(body), OBJECTS);
  const all: ResourceMetrics[] = request.resource_metrics;
  return all.flatMap(({ resource, scope_metrics }) =>
    scope_metrics.flatMap(({ metrics }) =>
      metrics.map((metric) => ({ ...metric, resource: attributesOf(resource.attributes) })),
    ),
  );
}

/** Converts an OTLP list of keys and values into an object. */
export function attributesOf(list: AttributeList): Attributes {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0] ?? ""]));
}

function hex(base64: string): string {
  return Buffer.from(base64, "base64").toString("hex");
}

const CLIENT_KIND = 3;

/**
 * Returns the path from the root to each span of a trace, such as `gateway serves GET /demo > gateway calls
 * ...`.
 */
export function pathsOf(all: readonly ReceivedSpan[], trace_id: string): string[] {
  const spans = all.filter((span) => span.trace_id === trace_id);
  const pathOf = (span: ReceivedSpan): string => {
    const parent = spans.find(({ span_id }) => span_id === span.parent_span_id);
    const kind = span.kind === CLIENT_KIND ? "calls" : "serves";
    const own = `${span.resource["service.name"]} ${kind} ${span.name}`;
    return parent === undefined ? own : `${pathOf(parent)} > ${own}`;
  };
  return spans.map(pathOf).toSorted();
}
