#!/usr/bin/python3
"""What depth-wise tiles that compute their overlap again would gain over tiles that keep it: the fewest tiles in which groups of
layers fit so many bytes, both ways.

    scripts/bench/overlap.py                                            seconds; no build is needed

Chains of layers alone, their shapes written down here: the convolutions of VGG16 (a pool at the end of its convolution) and of
MobileNet v1 (depth-wise ones as layers), for images of 224 x 224 and of 1080 x 1920. A case is a group of two layers or more and a
size of all memtiles together that its tensors do not fit whole. Kept, a tile computes what no tile before has, and rows stay from
where they are computed to where they are read for the last time; again, a tile computes all that it needs, and of a tensor nothing
stays from tile to tile. Either way a group's input comes row by row out of DDR, and its output leaves.
"""
import argparse
import collections
import sys

Layer = collections.namedtuple("Layer", "kernel stride pad height row_bytes")
TILES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 112]  # kTiles of src/planner/tile_groups.cc
MEMORIES = [128 << 10 << i for i in range(7)]  # 128 KiB to 8 MiB


def vgg16(height, width):
    layers = []
    for count, channels in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(count - 1):
            layers.append(Layer(3, 1, 1, height, width * channels))
        height, width = height // 2, width // 2
        layers.append(Layer(4, 2, 1, height, width * channels))  # 2 x 2 of 3 x 3
    return layers


def mobilenet_v1(height, width):
    layers = []

    def add(kernel, stride, channels):
        nonlocal height, width
        height, width = -(-height // stride), -(-width // stride)
        layers.append(Layer(kernel, stride, (kernel - 1) // 2, height, width * channels))

    add(3, 2, 32)
    before = 32
    for stride, channels in ((1, 64), (2, 128), (1, 128), (2, 256), (1, 256), (2, 512), *[(1, 512)] * 5, (2, 1024), (1, 1024)):
        add(3, stride, before)
        add(1, 1, channels)
        before = channels
    return layers


def read(layer, first, end, height):
    """Rows [first, end) of the layer's input, of so many, that rows of its output need."""
    return max(0, first * layer.stride - layer.pad), min(height, (end - 1) * layer.stride - layer.pad + layer.kernel)


def peak(group, tiles, keeps):
    """The most bytes that the group's tensors take, and rows computed over rows there are, by bytes."""
    last = len(group) - 1
    done, most, work = [0] * len(group), 0, 0
    for tile in range(tiles):
        rows = [(0, 0)] * last + [(group[last].height * tile // tiles, group[last].height * (tile + 1) // tiles)]
        for i in range(last, 0, -1):
            rows[i - 1] = read(group[i], *rows[i], group[i - 1].height)
        for i, layer in enumerate(group):
            first, end = rows[i]
            if keeps:
                end = max(done[i], layer.height if tile == tiles - 1 else end)
                work += (end - done[i]) * layer.row_bytes
                done_before, done[i] = done[i], end
                live = (end - done_before) * layer.row_bytes if i == last else 0
                for k in range(last):
                    reader = done_before if k + 1 == i else done[k + 1]  # the next row of the layer that reads it
                    if reader < group[k + 1].height:
                        live += max(0, done[k] - read(group[k + 1], reader, reader + 1, group[k].height)[0]) * group[k].row_bytes
            else:
                work += (end - first) * layer.row_bytes
                live = (end - first) * layer.row_bytes
                if i > 0:
                    live += (rows[i - 1][1] - rows[i - 1][0]) * group[i - 1].row_bytes
            most = max(most, live)
    return most, work / sum(layer.height * layer.row_bytes for layer in group)


def fewest(peaks, memory):
    return next((tiles for tiles, (bytes_, _) in peaks.items() if bytes_ <= memory), None)


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print("network       image      cases  neither fits  as many tiles  fewer kept  kept alone fits  fewer again  again alone fits  "
          "computed again")
    for name, network in (("vgg16", vgg16), ("mobilenet_v1", mobilenet_v1)):
        for height, width in ((224, 224), (1080, 1920)):
            layers = network(height, width)
            counts, extra = collections.Counter(), []
            for first in range(len(layers)):
                for end in range(first + 2, len(layers) + 1):
                    group = layers[first:end]
                    tried = [tiles for tiles in TILES if tiles <= max(layer.height for layer in group)]
                    kept = {tiles: peak(group, tiles, True) for tiles in tried}
                    again = {tiles: peak(group, tiles, False) for tiles in tried}
                    for memory in MEMORIES:
                        if kept[1][0] <= memory:
                            continue
                        a, b = fewest(kept, memory), fewest(again, memory)
                        counts["all"] += 1
                        if a is None or b is None:
                            counts["neither" if a == b else "kept alone" if b is None else "again alone"] += 1
                        else:
                            counts["kept" if a < b else "again" if b < a else "same"] += 1
                            extra.append(again[b][1] - 1)
            print(f"{name:12}  {height:4} x {width:4}  {counts['all']:5}  {counts['neither']:12}  {counts['same']:13}  {counts['kept']:10}"
                  f"  {counts['kept alone']:15}  {counts['again']:11}  {counts['again alone']:16}  {sum(extra) / len(extra):13.0%}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
