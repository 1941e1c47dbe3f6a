#!/usr/bin/python3
"""Holds scripts/make_models.py to its promises: the same bytes everywhere, and the published shapes."""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("HEDDLE_SHARED", SOURCE.parent / "shared"))
sys.path.insert(0, str(SOURCE / "scripts"))
import networks  # noqa: E402
import qdq  # noqa: E402


class Manifest(unittest.TestCase):
    def test_each_checked_in_model_is_what_its_command_makes(self):
        lines = [l.split() for l in (SOURCE / "models/MANIFEST").read_text().splitlines() if l[0] != "#"]
        files = {str(f.relative_to(SOURCE / "models")) for f in (SOURCE / "models").rglob("*.onnx")}
        self.assertEqual({line[0] for line in lines}, files)
        for file, digest, *arguments in lines:
            with self.subTest(file), tempfile.TemporaryDirectory() as out:
                subprocess.run([SOURCE / "scripts/make_models.py", *arguments, "-o", out], check=True,
                               stdout=subprocess.DEVNULL)
                made = (pathlib.Path(out) / pathlib.Path(file).name).read_bytes()
                self.assertEqual(hashlib.sha256(made).hexdigest(), digest)
                self.assertEqual((SOURCE / "models" / file).read_bytes(), made)


class Shapes(unittest.TestCase):
    # Million MACs of one image, and million weights (batch normalization folded, biases apart).
    PUBLISHED = {
        "mobilenet_v1": (569, 4.2),  # Howard et al., Table 8
        "mobilenet_v2": (301, 3.5),  # Sandler et al., Table 4 (300, 3.4), and torchvision
        "mlp": (0.7, 0.7),
    }

    def test_weights_and_macs_are_the_published_ones(self):
        for name, (macs, weights) in self.PUBLISHED.items():
            network = networks.NETWORKS[name](qdq.Options())
            digits = 1 if macs < 1 else 0
            self.assertEqual(round(network.macs / 1e6, digits), macs, name)
            self.assertEqual(round(network.weight_bytes / 1e6, 1), weights, name)

    @unittest.skipUnless((SHARED / "benchmarks/roofline.py").exists(), "needs ../shared/benchmarks/roofline.py")
    def test_macs_are_those_of_the_roofline(self):
        sys.path.insert(0, str(SHARED / "benchmarks"))
        import roofline
        for name, reference in (("resnet50", roofline.resnet50), ("inception_v3", roofline.inception_v3),
                                ("vgg16", roofline.vgg16)):
            network, layers = networks.NETWORKS[name](qdq.Options()), reference().nodes
            self.assertEqual(network.macs, sum(map(roofline.macs, layers)), name)
            self.assertEqual(network.weight_bytes, sum(map(roofline.wbytes, layers)), name)


class Arithmetic(unittest.TestCase):
    def test_a_sum_too_large_for_float32_is_still_exact(self):
        np = qdq.np
        weights, columns = np.full((2, 9001), 127, np.int8), np.full((9001, 3), 127, np.int8)
        weights[1, ::2] = -126
        expected = weights.astype(np.int64) @ columns.astype(np.int64)
        self.assertTrue((qdq.exact_product(weights, columns) == expected).all())

    def test_a_dead_layer_stops_the_script(self):
        with self.assertRaisesRegex(SystemExit, "layer conv is not alive: 100.0% zero"):
            qdq.check_alive("net", "conv", qdq.np.zeros((8, 4, 4), qdq.np.int8), 0)

    def test_a_saturated_layer_stops_the_script(self):
        values = qdq.np.full((8, 4, 4), 127, qdq.np.int8)
        with self.assertRaisesRegex(SystemExit, "100.0% saturated"):
            qdq.check_alive("net", "conv", values, 0)


if __name__ == "__main__":
    unittest.main()
