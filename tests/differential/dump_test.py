#!/usr/bin/python3
"""heddle interpret --dump-tensors: one file for every quantized tensor that the ONNX graph has, of its type and shape.

    dump_test.py HEDDLE (MODEL.onnx | FOLDER) ...

The list is made here, from the file alone. A constant's file has to equal the constant; oracle.* compare the values of
the others with ONNX Runtime's. Recorded tensors beside a model (NAME.layers.npz) give the shapes that ONNX does not
infer. Ends with 77 (skipped) where python3-onnx or all models are missing.
"""
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77

try:
    import numpy
    import onnx
    import onnx.numpy_helper
    from oracle import file_name, random_input
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

BYTES = {onnx.TensorProto.INT8: numpy.int8, onnx.TensorProto.UINT8: numpy.uint8}
DATA = {"DequantizeLinear": (0,), "QLinearConv": (0, 3, 8), "QLinearMatMul": (0, 3), "QGemm": (0, 3, 6),
        "ConvInteger": (0, 1), "MatMulInteger": (0, 1), "QLinearAdd": (0, 3), "QLinearMul": (0, 3),
        "QLinearAveragePool": (0,), "QLinearGlobalAveragePool": (0,), "QLinearLeakyRelu": (0,), "QLinearSigmoid": (0,)}


def constants_of(graph):
    constants = {value.name: onnx.numpy_helper.to_array(value) for value in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[node.output[0]] = onnx.numpy_helper.to_array(node.attribute[0].t)
    return constants


def quantized_names(graph):
    names = set()
    for node in graph.node:
        reads = range(2, len(node.input), 3) if node.op_type == "QLinearConcat" else DATA.get(node.op_type, ())
        names.update(node.input[i] for i in reads if i < len(node.input) and node.input[i])
        if node.op_type in ("QuantizeLinear", "QLinearConcat") or node.op_type in DATA and node.op_type.startswith("Q"):
            names.add(node.output[0])
    return names


def expected(path, model):
    """Name -> (dtype, shape) of each quantized tensor."""
    described = {}
    inferred = onnx.shape_inference.infer_shapes(model).graph
    for value in (*inferred.value_info, *inferred.input, *inferred.output):
        tensor = value.type.tensor_type
        if tensor.elem_type in BYTES:
            described[value.name] = (BYTES[tensor.elem_type], tuple(d.dim_value or 1 for d in tensor.shape.dim))
    recorded = path.with_suffix(".layers.npz")
    if recorded.exists():
        with numpy.load(recorded) as arrays:
            described.update((name, (arrays[name].dtype, arrays[name].shape)) for name in arrays.files)
    described.update((name, (array.dtype, array.shape)) for name, array in constants_of(model.graph).items())
    return {name: described[name] for name in quantized_names(model.graph)}


def check(heddle, path, work):
    model = onnx.load(str(path))
    constants = constants_of(model.graph)
    generator = numpy.random.default_rng(1)
    inputs = []
    for number, value in enumerate(v for v in model.graph.input if v.name not in constants):
        numpy.save(work / f"{number}.npy", random_input(value, generator))
        inputs += ["--input", f"{value.name}={work / f'{number}.npy'}"]
    subprocess.run([heddle, "interpret", path, "-q", "--dump-tensors", work / "tensors", *inputs], check=True)

    tensors = expected(path, model)
    faults = []
    for name, (dtype, shape) in sorted(tensors.items()):
        file = work / "tensors" / file_name(name)
        if not file.exists():
            faults.append(f"{name}: no {file.name}")
            continue
        array = numpy.load(file)
        if (array.dtype, array.shape) != (dtype, shape):
            faults.append(f"{name}: {array.dtype} {array.shape} instead of {dtype} {shape}")
        elif name in constants and not numpy.array_equal(array, constants[name]):
            faults.append(f"{name}: not the constant of the file")
    print(f"{path.name}: {len(tensors)} quantized tensors, {len(faults)} faults", *faults, sep="\n  ")
    return bool(tensors) and not faults


def main():
    heddle, *paths = sys.argv[1:]
    paths = [model for path in map(pathlib.Path, paths)
             for model in (sorted(path.glob("*.onnx")) if path.is_dir() else [path]) if model.exists()]
    good = True
    for path in paths:
        with tempfile.TemporaryDirectory() as work:
            good = check(heddle, path, pathlib.Path(work)) and good
    return SKIPPED if not paths else 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
