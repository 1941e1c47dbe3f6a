// Puts text on the clipboard; a page that was opened from disk may not always use the newer way.
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByEvent(text);
  }
}

function copyByEvent(text: string): boolean {
  const put = (e: ClipboardEvent) => {
    e.clipboardData?.setData("text/plain", text);
    e.preventDefault();
    e.stopImmediatePropagation();
  };
  document.addEventListener("copy", put, { once: true, capture: true });
  const done = document.execCommand("copy");
  document.removeEventListener("copy", put, true);
  return done;
}
