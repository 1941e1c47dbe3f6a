// Elements from strings that are shown as text: nothing in the page parses markup.
type Properties<K extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[K], "style" | "dataset">> & {
  data?: Record<string, string>;
  aria?: Record<string, string>;
  style?: Record<string, string>;
};

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties<K> = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const { data, aria, style, ...rest } = properties;
  const node = document.createElement(tag);
  Object.assign(node, rest);
  for (const [name, value] of Object.entries(data ?? {})) node.dataset[name] = value;
  for (const [name, value] of Object.entries(aria ?? {})) node.setAttribute(name === "role" ? name : `aria-${name}`, value);
  for (const [name, value] of Object.entries(style ?? {})) node.style.setProperty(name, value);
  node.append(...children);
  return node;
}

export const button = (text: string, title: string, onclick: () => void): HTMLButtonElement => element("button", { type: "button", textContent: text, title, onclick });

/** Offers `content` as a file; without a server, from the page itself. */
export function download(name: string, content: Blob): void {
  const link = element("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
