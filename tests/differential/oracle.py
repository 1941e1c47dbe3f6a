#!/usr/bin/python3
"""Feeds oracle_check with what ONNX Runtime computed.

  oracle.py ORACLE_CHECK real SHARED_MODELS     the real networks, from the recorded tensors of every layer
  oracle.py ORACLE_CHECK qops SHARED_MODELS     the models of one or few operators, from their recorded outputs
  oracle.py ORACLE_CHECK models FILE.onnx ...   the Runtime itself, every quantized tensor of each model
  oracle.py ORACLE_CHECK pruned HEDDLE FILE.onnx ...   the same for each model with half of its 8x8 blocks pruned
  oracle.py ORACLE_CHECK random FIRST COUNT     the same for random networks of the seeds FIRST, FIRST + 1, ...
  oracle.py ORACLE_CHECK operators PROVE_OPERATORS FIRST COUNT   the same for the models of the second generator

Ends with oracle_check's status, or 77 (skipped) where the data or the Runtime are missing.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent

try:
    import numpy
    import onnx
    import onnx.numpy_helper
    import random_qdq
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

# Which inputs of an operator are activations; all others must be constants before a network is compiled.
ACTIVATIONS = {"QLinearAdd": (0, 3), "QLinearMul": (0, 3), "QLinearConcat": ()}


# Products of integers: which input is the second factor.
SECOND_FACTOR = {"QLinearConv": 3, "QLinearMatMul": 3, "QGemm": 3, "ConvInteger": 1, "MatMulInteger": 1}


def is_exact_here():
    """Without VNNI the Runtime adds two products of 8 bits in 16, saturated, where the second factor is signed
    (onnxruntime.ai/docs/performance/model-optimizations/quantization.html, "When and why do I need to try U8U8?")."""
    try:
        return "vnni" in pathlib.Path("/proc/cpuinfo").read_text() or os.uname().machine != "x86_64"
    except OSError:
        return True


def may_saturate(model):
    """Whether a second factor is signed and may be so large that two products exceed 16 bits."""
    values = {value.name: onnx.numpy_helper.to_array(value) for value in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type in SECOND_FACTOR:
            factor = values.get(node.input[SECOND_FACTOR[node.op_type]])
            if factor is None or (factor.dtype == numpy.int8 and factor.size and max(-int(factor.min()), int(factor.max())) > 64):
                return True
    return False


def file_name(tensor):
    return tensor.replace("/", "_").replace(":", "_") + ".npy"


def unpack(arrays, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        numpy.save(folder / file_name(name), array)


def recorded(npz, prefix):
    """The arrays of an .npz whose names begin with `prefix`, without it."""
    with numpy.load(npz) as arrays:
        return {name[len(prefix):]: arrays[name] for name in arrays.files if name.startswith(prefix)}


def real(shared, work):
    """The tensors of NAME.layers.npz (seed 1, optimizations disabled) with the inputs and outputs of NAME.npz."""
    jobs = []
    for layers in sorted((shared / "real").glob("*.layers.npz")):
        name = layers.name.removesuffix(".layers.npz")
        golden = shared / "real" / f"{name}.npz"
        for prefix in ("seed1.in.", "seed1.disabled."):
            unpack(recorded(golden, prefix), work / name)
        unpack(recorded(layers, ""), work / name)
        jobs.append((shared / "real" / f"{name}.onnx", work / name))
    return jobs


def with_constants(model, values):
    """Inputs that are not activations become initializers."""
    graph = model.graph
    activations = {node.input[i] for node in graph.node for i in ACTIVATIONS.get(node.op_type, (0,))}
    for value in list(graph.input):
        if value.name in values and value.name not in activations:
            graph.initializer.append(onnx.numpy_helper.from_array(values[value.name], value.name))
            graph.input.remove(value)
    return model


def qops(shared, work):
    jobs = []
    for path in sorted((shared / "qops").glob("*.onnx")):
        golden = path.with_suffix(".npz")
        inputs = recorded(golden, "in.")
        unpack(inputs, work / path.stem)
        unpack(recorded(golden, "disabled."), work / path.stem)
        target = work / path.name
        onnx.save(with_constants(onnx.load(str(path)), inputs), str(target))
        jobs.append((target, work / path.stem))
    return jobs


def random_input(value, generator):  # floats of a spread of 1, integers over their whole range
    tensor = value.type.tensor_type
    shape = [d.dim_value or 1 for d in tensor.shape.dim]
    dtype = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[tensor.elem_type]
    if dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return generator.standard_normal(shape, numpy.float32)


def expose(model):
    """Makes every quantized tensor a graph output; the Runtime infers its type and shape."""
    graph = model.graph
    have = {output.name for output in graph.output}
    quantized = {node.output[0] for node in graph.node
                 if node.op_type == "QuantizeLinear" or node.op_type.startswith(("QLinear", "QGemm"))}
    constants = {value.name for value in graph.initializer}
    constants.update(node.output[0] for node in graph.node if node.op_type == "Constant")
    weights = {node.output[0] for node in graph.node if node.input and node.input[0] in constants}
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(quantized - have - weights))
    return model


def models(paths, work, may_refuse=False):
    """`may_refuse`: the Runtime lacks some operators for some types; such a model is left out."""
    jobs, refused, saturated = [], [], 0
    exact = is_exact_here()
    for i, path in enumerate(map(pathlib.Path, paths)):
        if not path.exists():
            print(f"skipped: no {path}")
            sys.exit(SKIPPED)
        model = onnx.load(str(path))
        if not exact and may_saturate(model):
            saturated += 1
            continue
        generator = numpy.random.default_rng(1)
        known = {value.name for value in model.graph.initializer}
        folder = work / str(i)  # two models may have one file name
        unpack({value.name: random_input(value, generator) for value in model.graph.input
                if value.name not in known}, folder)
        exposed = work / f"{i}.onnx"
        onnx.save(expose(model), str(exposed))
        run = subprocess.run(["node", str(HERE / "runtime.mjs"), str(exposed), str(folder)], check=False,
                             stderr=subprocess.PIPE, text=True)
        if run.returncode == SKIPPED or (run.returncode != 0 and not may_refuse):
            print(run.stderr, file=sys.stderr)
            sys.exit(run.returncode)
        if run.returncode != 0:
            refused.append(f"{path.stem}: {run.stderr.partition('Error: ')[2].splitlines()[0]}")
            continue
        jobs.append((path, folder))
    if saturated:
        print(f"left out {saturated} of {len(paths)} models: this processor has no VNNI, so ONNX Runtime saturates sums of products")
    if refused:
        print(f"ONNX Runtime refuses {len(refused)} of {len(paths)} models:", *refused, sep="\n  ")
    return jobs


def random_networks(first, count, work):
    paths = []
    for seed in range(first, first + count):
        paths.append(work / f"seed{seed}.onnx")
        onnx.save(random_qdq.network(seed), str(paths[-1]))
    return models(paths, work)


def operator_networks(generator, first, count, work):
    subprocess.run([generator, "--write", str(work), first, count], check=True)
    return models(sorted(work.glob("seed*.onnx")), work, may_refuse=True)


def pruned_networks(heddle, paths, work):
    """Blocks of channels of which some go whole: constants, and the zero points of weights, are at work."""
    pruned = []
    for i, path in enumerate(map(pathlib.Path, paths)):
        if not path.exists():
            print(f"skipped: no {path}")
            sys.exit(SKIPPED)
        pruned.append(work / f"pruned{i}_{path.stem}.onnx")
        subprocess.run([heddle, "prune", path, "-o", pruned[-1], "--ratio", "0.5", "-q"], check=True)
    return models(pruned, work)


def main():
    check, mode, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        if mode == "models":
            jobs = models(rest, work)
        elif mode == "pruned":
            jobs = pruned_networks(rest[0], rest[1:], work)
        elif mode == "random":
            jobs = random_networks(int(rest[0]), int(rest[1]), work)
        elif mode == "operators":
            jobs = operator_networks(rest[0], rest[1], rest[2], work)
        else:
            shared = pathlib.Path(rest[0])
            if not shared.is_dir():
                print(f"skipped: no {shared}")
                return SKIPPED
            jobs = {"real": real, "qops": qops}[mode](shared, work)
        return subprocess.run([check] + [f"{model}={folder}" for model, folder in jobs], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
