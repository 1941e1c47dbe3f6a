"""The networks that make_models.py writes, each as the layers of its publication."""
import qdq


def resnet50(options):
    """ResNet-50 v1.5: the stride of a stage lies in the 3x3 (He et al., 2015, as in torchvision)."""
    net = qdq.Network("resnet50", options)
    x = net.conv("conv1", net.input("input", 3, 224, 224), 64, 7, stride=2, act="relu")
    x = net.max_pool("pool1", x, 3, 2, pad=1)
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), 2):
        for block in range(1, blocks + 1):
            name = f"s{stage}b{block}"
            stride = 2 if block == 1 and stage > 2 else 1
            shortcut = net.conv(name + "_proj", x, 4 * width, 1, stride) if block == 1 else x
            y = net.conv(name + "_1", x, width, 1, act="relu")
            y = net.conv(name + "_2", y, width, 3, stride, act="relu")
            y = net.conv(name + "_3", y, 4 * width, 1)
            x = net.add(name + "_add", y, shortcut, act="relu")
    net.output("logits", net.fc("fc", net.global_average("gpool", x), 1000))
    return net


def vgg16_features(net):
    x = net.input("input", 3, 224, 224)
    for block, (channels, layers) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)), 1):
        for layer in range(1, layers + 1):
            x = net.conv(f"conv{block}_{layer}", x, channels, 3, act="relu")
        x = net.max_pool(f"pool{block}", x, 2, 2)
    return x


def vgg16(options):
    """VGG16's convolutions and pools (Simonyan & Zisserman, 2014); ends at the 7x7x512 features."""
    net = qdq.Network("vgg16", options)
    net.output("features", vgg16_features(net))
    return net


def vgg16_fc(options):
    """All of VGG16, with its three fully connected layers."""
    net = qdq.Network("vgg16_fc", options)
    x = net.fc("fc6", vgg16_features(net), 4096, act="relu")
    x = net.fc("fc7", x, 4096, act="relu")
    net.output("logits", net.fc("fc8", x, 1000))
    return net


def mobilenet_v1(options):
    """MobileNet 1.0 at 224 (Howard et al., 2017), with ReLU6 as its authors' code has it."""
    net = qdq.Network("mobilenet_v1", options)
    x = net.conv("conv1", net.input("input", 3, 224, 224), 32, 3, stride=2, act="relu6")
    channels = (64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)
    strided = (2, 4, 6, 12)  # blocks, counted from 1
    for block, cout in enumerate(channels, 1):
        x = net.depthwise(f"b{block}_dw", x, 3, 2 if block in strided else 1, act="relu6")
        x = net.conv(f"b{block}_pw", x, cout, 1, act="relu6")
    net.output("logits", net.fc("fc", net.global_average("gpool", x), 1000))
    return net


def mobilenet_v2(options):
    """MobileNet v2 1.0 at 224: inverted residuals with linear bottlenecks (Sandler et al., 2018, Table 2)."""
    net = qdq.Network("mobilenet_v2", options)
    x = net.conv("conv1", net.input("input", 3, 224, 224), 32, 3, stride=2, act="relu6")
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for stage, (expansion, cout, blocks, first_stride) in enumerate(stages, 1):
        for block in range(1, blocks + 1):
            name, stride = f"s{stage}b{block}", first_stride if block == 1 else 1
            x = inverted_residual(net, name, x, expansion, cout, stride)
    x = net.conv("conv_last", x, 1280, 1, act="relu6")
    net.output("logits", net.fc("fc", net.global_average("gpool", x), 1000))
    return net


def inverted_residual(net, name, x, expansion, cout, stride):
    cin = x.values.shape[0]
    y = net.conv(name + "_expand", x, cin * expansion, 1, act="relu6") if expansion > 1 else x
    y = net.depthwise(name + "_dw", y, 3, stride, act="relu6")
    y = net.conv(name + "_project", y, cout, 1)
    return net.add(name + "_add", y, x) if stride == 1 and cin == cout else y


def inception_v3(options):
    """Inception v3 at 299 (Szegedy et al., 2015), with torchvision's layers and no auxiliary head."""
    net = qdq.Network("inception_v3", options)

    def chain(name, x, *steps):
        """Convolutions one after another; a step is (suffix, channels, kernel[, stride, pads]). The last joins a Concat."""
        for step in steps:
            suffix, cout, kernel, stride, pads = (*step, 1, None)[:5]
            x = net.conv(f"{name}_{suffix}", x, cout, kernel, stride, pads, act="relu", joined=step is steps[-1])
        return x

    def pooled(name, x, cout):
        return chain(name, net.average_pool(name + "_p", x, 3, 1), ("pp", cout, 1))

    x = net.input("input", 3, 299, 299)
    x = net.conv("c1a", x, 32, 3, 2, 0, act="relu")
    x = net.conv("c2a", x, 32, 3, 1, 0, act="relu")
    x = net.max_pool("p1", net.conv("c2b", x, 64, 3, act="relu"), 3, 2)
    x = net.conv("c3b", x, 80, 1, act="relu")
    x = net.max_pool("p2", net.conv("c4a", x, 192, 3, 1, 0, act="relu"), 3, 2)
    for t, pool_channels in (("A1", 32), ("A2", 64), ("A3", 64)):
        x = net.concat(t, [
            chain(t, x, ("1", 64, 1)),
            chain(t, x, ("5a", 48, 1), ("5b", 64, 5)),
            chain(t, x, ("3a", 64, 1), ("3b", 96, 3), ("3c", 96, 3)),
            pooled(t, x, pool_channels)])
    x = net.concat("B", [
        chain("B", x, ("3", 384, 3, 2, 0)),
        chain("B", x, ("da", 64, 1), ("db", 96, 3), ("dc", 96, 3, 2, 0)),
        net.max_pool("B_p", x, 3, 2)])
    for t, m in (("C1", 128), ("C2", 160), ("C3", 160), ("C4", 192)):
        x = net.concat(t, [
            chain(t, x, ("1", 192, 1)),
            chain(t, x, ("7a", m, 1), ("7b", m, (1, 7)), ("7c", 192, (7, 1))),
            chain(t, x, ("da", m, 1), ("db", m, (7, 1)), ("dc", m, (1, 7)), ("dd", m, (7, 1)), ("de", 192, (1, 7))),
            pooled(t, x, 192)])
    x = net.concat("D", [
        chain("D", x, ("3a", 192, 1), ("3b", 320, 3, 2, 0)),
        chain("D", x, ("7a", 192, 1), ("7b", 192, (1, 7)), ("7c", 192, (7, 1)), ("7d", 192, 3, 2, 0)),
        net.max_pool("D_p", x, 3, 2)])
    for t in ("E1", "E2"):
        one = chain(t, x, ("1", 320, 1))
        b = net.conv(t + "_3a", x, 384, 1, act="relu")
        c = net.conv(t + "_db", net.conv(t + "_da", x, 448, 1, act="relu"), 384, 3, act="relu")
        x = net.concat(t, [
            one,
            chain(t, b, ("3b", 384, (1, 3))), chain(t, b, ("3c", 384, (3, 1))),
            chain(t, c, ("dc", 384, (1, 3))), chain(t, c, ("dd", 384, (3, 1))),
            pooled(t, x, 192)])
    net.output("logits", net.fc("fc", net.global_average("gpool", x), 1000))
    return net


def mlp(options):
    net = qdq.Network("mlp", options)
    x = net.input("input", 784)
    x = net.fc("fc1", x, 512, act="relu")
    x = net.fc("fc2", x, 512, act="relu")
    net.output("logits", net.fc("fc3", x, 10))
    return net


def worked_conv(options):
    """The convolution that docs/asm.md works through: 3x3, pad 1, 16x16x16 to 16x16x32."""
    net = qdq.Network("worked_conv", options)
    net.output("output", net.conv("conv", net.input("input", 16, 16, 16), 32, 3))
    return net


def tiny_cnn(options):
    """A residual network in small: odd sizes, a strided projection, max-pool, fully connected."""
    net = qdq.Network("tiny_cnn", options)
    x = net.conv("conv1", net.input("input", 3, 35, 31), 16, 5, stride=2, act="relu")
    x = net.max_pool("pool1", x, 3, 2, pad=1)
    y = net.conv("b1_1", x, 20, 3, act="relu")
    x = net.add("b1_add", net.conv("b1_2", y, 16, 3), x, act="relu")
    y = net.conv("b2_2", net.conv("b2_1", x, 12, 1, act="relu"), 40, 3, stride=2)
    x = net.add("b2_add", y, net.conv("b2_proj", x, 40, 1, stride=2), act="relu")
    net.output("logits", net.fc("fc", net.global_average("gpool", x), 10))
    return net


def tiny_mobile(options):
    """A MobileNet v2 in small: depth-wise layers, linear bottlenecks, ReLU6."""
    net = qdq.Network("tiny_mobile", options)
    x = net.conv("conv1", net.input("input", 3, 33, 29), 8, 3, stride=2, act="relu6")
    x = inverted_residual(net, "b1", x, 1, 12, 1)
    x = inverted_residual(net, "b2", x, 4, 16, 2)
    x = inverted_residual(net, "b3", x, 4, 16, 1)
    x = net.conv("conv_last", x, 48, 1, act="relu6")
    net.output("logits", net.fc("fc", net.global_average("gpool", x), 10))
    return net


def tiny_inception(options):
    """Branches in small: 1x7 and 7x1, average pool, Concat with cuts that are and are not multiples of 8."""
    net = qdq.Network("tiny_inception", options)
    x = net.conv("conv1", net.input("input", 3, 29, 29), 16, 3, 2, 0, act="relu")
    a = net.conv("a1", x, 16, 1, act="relu", joined=True)
    b = net.conv("b2", net.conv("b1", x, 8, (1, 7), act="relu"), 8, (7, 1), act="relu", joined=True)
    c = net.conv("c1", net.average_pool("c_p", x, 3, 1), 24, 1, act="relu", joined=True)
    x = net.concat("mixed1", [a, b, c])
    a = net.conv("d1", x, 13, 3, 2, 0, act="relu")
    x = net.concat("mixed2", [a, net.max_pool("d_p", x, 3, 2)])
    net.output("logits", net.fc("fc", net.global_average("gpool", x), 10))
    return net


def tiny_silu(options):
    """What YOLO and EfficientNet are made of, in small: SiLU behind every convolution, two of which read the same, and behind
    depth-wise ones; a bottleneck beside a branch, and inverted residuals."""
    net = qdq.Network("tiny_silu", options)
    x = net.conv("conv1", net.input("input", 3, 33, 29), 16, 3, stride=2, act="silu")
    a, b = net.conv("c_a", x, 16, 1, act="silu"), net.conv("c_b", x, 16, 1, act="silu")
    a = net.add("c_add", net.conv("c_2", net.conv("c_1", a, 16, 1, act="silu"), 16, 3, act="silu"), a)
    x = net.conv("c_3", net.concat("c", [a, b]), 20, 1, act="silu")
    y = net.depthwise("m1_dw", net.conv("m1_expand", x, 72, 1, act="silu"), 3, act="silu")
    x = net.add("m1_add", net.conv("m1_project", y, 20, 1), x)
    y = net.depthwise("m2_dw", net.conv("m2_expand", x, 80, 1, act="silu"), 5, stride=2, act="silu")
    x = net.conv("conv_last", net.conv("m2_project", y, 32, 1), 48, 1, act="silu")
    net.output("logits", net.fc("fc", net.global_average("gpool", x), 10))
    return net


def tiny_pruned(options):
    """Output channels of zeros as channel pruning leaves them, so scattered that no 8x8 block of weights is zero: whatever a
    compiler saves here follows from them through ReLU, pools, a residual join, depth-wise layers and Concat."""
    net = qdq.Network("tiny_pruned", options)
    x = net.conv("conv1", net.input("input", 3, 35, 31), 32, 5, stride=2, act="relu", live=(1, 2))
    x = net.max_pool("pool1", x, 3, 2, pad=1)
    y = net.conv("b1_1", x, 48, 3, act="relu", live=(1, 3))
    x = net.add("b1_add", net.conv("b1_2", y, 32, 3, live=(1, 2)), x, act="relu")  # both sides lose the same channels
    y = net.depthwise("b2_dw", x, 3, act="relu6")
    y = net.conv("b2_pw", y, 48, 1, act="relu", live=(2, 3), biased=True)  # constants other than zero
    a = net.conv("c1", y, 32, 1, act="relu", joined=True, live=(1, 4))
    b = net.conv("c2", y, 16, 1, act="relu", joined=True)
    x = net.concat("mixed", [a, b])
    x = net.conv("conv_last", x, 40, 3, act="relu")
    net.output("logits", net.fc("fc", net.global_average("gpool", x), 10))
    return net


LARGE = {f.__name__: f for f in (resnet50, inception_v3, vgg16, vgg16_fc, mobilenet_v1, mobilenet_v2, mlp)}
SMALL = {f.__name__: f for f in (worked_conv, tiny_cnn, tiny_mobile, tiny_inception, tiny_silu, tiny_pruned)}
NETWORKS = {**LARGE, **SMALL}
