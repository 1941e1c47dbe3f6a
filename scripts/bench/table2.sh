#!/usr/bin/env bash
# Table II of the paper beside ours, dense and with half of the 8x8 blocks left out. Installs and builds what is missing, makes
# the networks and hands all options to table2.py, whose --help names them.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/install_deps.sh build
scripts/build.sh
scripts/make_models.py resnet50 inception_v3 vgg16 --keep -o build/models
exec scripts/bench/table2.py "$@"
