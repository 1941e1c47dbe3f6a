// Each page is one HTML file: style and script inside, a policy that lets nothing else run, and a place for the data.
// `vite build --mode sweep` builds sweep.html, and likewise timeline.html.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin, type UserConfig } from "vite";

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function singleFile(name: string): Plugin {
  return {
    name: "single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";
      for (const [part, file] of Object.entries(bundle)) {
        if (part === name) continue;
        if (file.type === "chunk") script += file.code;
        else if (part.endsWith(".css")) style += String(file.source);
        delete bundle[part];
      }
      // Within a script element only "</script" and "<!--" could end or change it.
      style = style.trim();
      script = script.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
      const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data: blob:`;
      const page = readFileSync(new URL(name, import.meta.url), "utf8")
        .replace("@POLICY@", () => policy)
        .replace("@STYLE@", () => style)
        .replace(/<script type="module"[^>]*><\/script>/, () => `<script type="module">${script}</script>`);
      const html = bundle[name];
      if (html?.type === "asset") html.source = page;
    },
  };
}

export default defineConfig(({ mode }) => {
  const page = `${mode === "sweep" ? "sweep" : "timeline"}.html`;
  return {
    base: "./",
    plugins: [singleFile(page)],
    build: { target: "es2022", modulePreload: false, assetsInlineLimit: 1e6, cssCodeSplit: false, reportCompressedSize: false, rollupOptions: { input: page } },
    test: { include: ["tests/unit/**/*.test.ts"], testTimeout: 60000 }, // where other work shares the machine
  } as UserConfig;
});
