/** Formats numbers for axes and legends in the Grafana units that the dashboards use. */

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB"];

export function figure(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "none";
  switch (unit) {
    case "s":
      return duration(value);
    case "percentunit":
      return `${short(value * 100)} %`;
    case "bytes":
      return bytes(value);
    case "reqps":
    case "ops":
      return `${short(value)}/s`;
    default:
      return short(value);
  }
}

/** Returns the smallest of 1, 2 or 5 times a power of ten that is at least `value`. */
export function roundedUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999_999) ?? value;
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function duration(seconds: number): string {
  if (seconds !== 0 && Math.abs(seconds) < 0.001) return `${short(seconds * 1e6)} µs`;
  if (seconds !== 0 && Math.abs(seconds) < 1) return `${short(seconds * 1e3)} ms`;
  if (Math.abs(seconds) < 120) return `${short(seconds)} s`;
  return `${short(seconds / 60)} min`;
}

function bytes(value: number): string {
  const power = value > 0 ? Math.min(Math.floor(Math.log(value) / Math.log(1_024)), BYTES.length - 1) : 0;
  return `${short(value / 1_024 ** power)} ${BYTES[power]}`;
}
