// node build.mjs PAGE: bundles src/ and its styles and font into one HTML file that needs nothing else.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const page = process.argv[2];
if (!page) throw new Error("usage: node build.mjs PAGE");

const bundle = async (entry, options) => {
  const result = await build({
    entryPoints: [join(here, entry)], bundle: true, minify: true, write: false, charset: "utf8", target: "es2022",
    legalComments: "eof", logLevel: "warning", loader: { ".woff2": "dataurl" }, ...options,
  });
  return result.outputFiles[0].text;
};

// An inline script or style ends at its closing tag, wherever that stands.
const inline = (text) => text.replace(/<\/(script|style)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
const script = inline(await bundle("src/main.js", { format: "iife" }));
const style = inline(await bundle("src/style.css", {}));
const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
const policy = [
  "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "img-src data: blob:",
  "font-src data:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
].join("; ");

const html = readFileSync(join(here, "src/index.html"), "utf8")
  .replace("{{policy}}", () => policy)
  .replace("{{style}}", () => style)
  .replace("{{script}}", () => script);
writeFileSync(page, html);
