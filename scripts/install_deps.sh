#!/usr/bin/env bash
# Installs the Debian 12 packages that are missing, and nothing else; asks for sudo only where something is.
#
#   scripts/install_deps.sh build     what scripts/build.sh and scripts/make_models.py need
#   scripts/install_deps.sh python    that, and what the Python module needs
#   scripts/install_deps.sh ci        that, and what building the presets with tests needs, asan apart
#   scripts/install_deps.sh checks    that, and what building asan, scripts/tidy.py and scripts/fuzz.sh need
#   scripts/install_deps.sh test      that, and what running the tests needs
set -euo pipefail

# Debian's CMake files of libzip-dev name the three zip tools: find_package fails where one of them is missing.
build=(g++ cmake ninja-build libonnx-dev libprotobuf-dev protobuf-compiler libboost-graph-dev nlohmann-json3-dev libyaml-cpp-dev
  libcli11-dev tao-pegtl-dev libssl-dev zlib1g-dev libzip-dev zipcmp zipmerge ziptool libmuparser-dev
  libsqlite3-dev libjemalloc-dev python3-onnx python3-numpy ca-certificates)
python=(pybind11-dev python3-dev python3-pip python3-setuptools python3-venv python3-wheel)
ci=("${python[@]}" libgtest-dev librapidcheck-dev)
checks=("${ci[@]}" clang-format clang-tidy clang libclang-rt-14-dev)
test=("${checks[@]}" python3-matplotlib python3-jsonschema libonnx-testdata slurmctld slurmd slurm-client munge chromium gtkwave)
# Node may have come from elsewhere; Debian's npm would clash with it.
command -v node >/dev/null || build+=(nodejs)
command -v npm >/dev/null || build+=(npm)

case "${1:-}" in
  build) wanted=("${build[@]}") ;;
  python) wanted=("${build[@]}" "${python[@]}") ;;
  ci) wanted=("${build[@]}" "${ci[@]}") ;;
  checks) wanted=("${build[@]}" "${checks[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "install_deps: no apt-get here; the Debian 12 packages wanted are: ${wanted[*]}" >&2
  exit 0
fi
missing=()
for package in "${wanted[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "install_deps: as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}" >/dev/null
