/** Offers a file to the browser, which stores it or asks where. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read the file when the next task runs.
  setTimeout(() => URL.revokeObjectURL(address), SAVED_WITHIN_MS);
}

const SAVED_WITHIN_MS = 60_000;
