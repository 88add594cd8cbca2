/* Node runs this when the book is built: it starts the files of the page's Python in a folder, as a page does, and has what the start
   imports of Python's own library compiled. Arguments: the folder, the text of `compiling`. */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { gunzipSync } from "node:zlib";

const [folder, text] = process.argv.slice(2);
const read = (name) => readFileSync(`${folder}/${name}`);

async function main() {
  const { loadPyodide } = await import(`${folder}/pyodide.mjs`);
  const python = await loadPyodide({
    indexURL: `${folder}/`,
    packages: "numpy" in JSON.parse(read("pyodide-lock.json")).packages ? ["numpy"] : [],
    // Without a seed sets would be written in another order each time.
    env: { HOME: "/home/reader", PYTHONHASHSEED: "0", KERNELS_BACKEND: "cpu", KERNELS_EXERCISES: "off" },
    stdout() {},
  });
  python.unpackArchive(new Uint8Array(gunzipSync(read("course.zip.gz"))), "zip", { extractDir: "/course" });
  python.FS.mkdirTree("/course/chapters");
  python.FS.chdir("/course/chapters");
  python.runPython(readFileSync(text, "utf8"));
  writeFileSync(`${folder}/python_stdlib.zip`, python.FS.readFile("/compiled.zip"));
}

main().catch((error) => {
  process.stderr.write(`\n${error.message.trim()}\n`);
  process.exitCode = 1;
});
