import type { Asked } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import type { Failure } from "../failure.ts";
import { FailureNotice } from "./failure-notice.tsx";
import { Loading } from "./shown.tsx";

interface AnsweredProps<Answer> {
  asked: Asked<Answer, Failure> & { again(): Promise<void> };
  children: (answer: Answer) => ComponentChildren;
}

/**
 * Shows the result of a request. Shows a placeholder before the result arrives, and a notice if the request
 * failed.
 */
export function Answered<Answer>({ asked: { answer, failure, again }, children }: AnsweredProps<Answer>) {
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} onRetry={again} />}
      {answer === null && failure === null && <Loading />}
      {answer !== null && children(answer)}
    </>
  );
}
