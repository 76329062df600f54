/** Shows a placeholder after a short delay, so that a fast response causes no flicker. */
export function LoadingBars({ text }: { text: string }) {
  return (
    <div class="loading" role="status">
      <p>{text}</p>
      <div class="bar" />
      <div class="bar" />
      <div class="bar" />
    </div>
  );
}
