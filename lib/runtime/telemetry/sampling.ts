import { ROOT_CONTEXT, SpanKind } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { TelemetryConfig } from "../config/index.ts";
import type { TraceParent } from "./trace-context.ts";

/** Called before the first span of a request is created. */
type SampleDecision = (parent: TraceParent | null, trace_id: string) => boolean;

const PARENT_BASED = "parentbased_";

/** Returns the sampler that `OTEL_TRACES_SAMPLER` and its `_ARG` select, as defined by OpenTelemetry. */
export function samplerOf(config: TelemetryConfig): SampleDecision {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG } = config;
  const parentBased = name.startsWith(PARENT_BASED);
  const sampler = rootSampler(parentBased ? name.slice(PARENT_BASED.length) : name, OTEL_TRACES_SAMPLER_ARG);
  const decide = (trace_id: string) =>
    sampler.shouldSample(ROOT_CONTEXT, trace_id, "", SpanKind.SERVER, {}, []).decision ===
    SamplingDecision.RECORD_AND_SAMPLED;
  return (parent, trace_id) => (parentBased && parent !== null ? parent.sampled : decide(trace_id));
}

function rootSampler(name: string, argument: string | undefined): Sampler {
  if (name === "always_off") return new AlwaysOffSampler();
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(Number(argument ?? 1));
  return new AlwaysOnSampler();
}
