/** Makes the browser download `content` as a file with this name. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The URL must stay valid until the browser has begun to read the file.
  setTimeout(() => URL.revokeObjectURL(address), SAVED_WITHIN_MS);
}

const SAVED_WITHIN_MS = 60_000;
