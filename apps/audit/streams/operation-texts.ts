import { describeOperations } from "@ostiary/lib/openapi";
import { STREAMS_MAX } from "./stream.ts";

export const operations = describeOperations(
  {
    createAuditStream: [
      "Create a stream",
      `Delivers events to your receiver from now on, or from a position or a time. An organization has at most ${STREAMS_MAX} streams.`,
    ],
    listAuditStreams: ["List an organization's streams", "Oldest first, without their secrets."],
    getAuditStream: [
      "Read a stream",
      "Shows the last entry that the receiver accepted, and why the last delivery request failed.",
    ],
    updateAuditStream: [
      "Change a stream",
      "Pauses the stream, starts it again where it stopped, or changes where and what it delivers. The change does not affect a delivery request in flight.",
    ],
    deleteAuditStream: ["Delete a stream", "Deletes the stream and its secret. Nothing more is delivered."],
    rotateAuditStreamSecret: [
      "Replace a stream's secret",
      "Both secrets sign each delivery request during the overlap, which is a day by default.",
    ],
    testAuditStream: [
      "Call a stream's receiver",
      "Sends a signed message of type audit.test, which contains no event, and returns the result. If the receiver of a failing stream accepts the message, the stream is retried at once.",
    ],
  },
  ["Streams"],
);
