#!/usr/bin/env node
// Runs an ONNX model in ONNX Runtime: reads NAME.npy of every input from a folder, writes every output there.
//
//   node runtime.mjs MODEL.onnx FOLDER [disabled|basic|extended|all]
//
// In names `/` and `:` become `_`. Without onnxruntime-node (npm ci --ignore-scripts) it ends with status 77: skipped.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

let ort;
try {
  ort = (await import('onnxruntime-node')).default;
} catch {
  console.error('onnxruntime-node is not installed: npm ci --ignore-scripts in tests/differential');
  process.exit(77);
}

const arrays = {
  float32: ['<f4', Float32Array], int8: ['|i1', Int8Array], uint8: ['|u1', Uint8Array],
  int32: ['<i4', Int32Array], int64: ['<i8', BigInt64Array],
};

function readNpy(path) {
  const bytes = readFileSync(path);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, start);
  const descr = header.match(/'descr': '([^']+)'/)[1];
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(',').filter(s => s.trim()).map(Number);
  const [type, [, Elements]] = Object.entries(arrays).find(([, [d]]) => d === descr);
  const data = new Uint8Array(bytes.subarray(start));  // a copy, so that elements are aligned
  return new ort.Tensor(type, new Elements(data.buffer), shape);
}

function writeNpy(path, tensor) {
  if (!(tensor.type in arrays)) return;
  const shape = tensor.dims.length === 1 ? `(${tensor.dims[0]},)` : `(${tensor.dims.join(', ')})`;
  const header = `{'descr': '${arrays[tensor.type][0]}', 'fortran_order': False, 'shape': ${shape}, }`;
  const length = Math.ceil((header.length + 11) / 64) * 64 - 10;
  const head = Buffer.from(`\x93NUMPY\x01\x00..${header.padEnd(length - 1)}\n`, 'latin1');
  head.writeUInt16LE(length, 8);
  const { buffer, byteOffset, byteLength } = tensor.data;
  writeFileSync(path, Buffer.concat([head, Buffer.from(buffer, byteOffset, byteLength)]));
}

const [model, folder, level = 'disabled'] = process.argv.slice(2);
const fileOf = name => join(folder, name.replace(/[/:]/g, '_') + '.npy');
const session = await ort.InferenceSession.create(model, {
  graphOptimizationLevel: level, executionProviders: ['cpu'], intraOpNumThreads: 1, interOpNumThreads: 1,
  logSeverityLevel: 3,
});
const feeds = Object.fromEntries(session.inputNames.map(name => [name, readNpy(fileOf(name))]));
const results = await session.run(feeds);
for (const [name, tensor] of Object.entries(results)) writeNpy(fileOf(name), tensor);
