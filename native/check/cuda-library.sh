#!/bin/sh
# cuda-library.sh NVCC OUTPUT [BUILT]: prints the path of a CUDA library that is not older than its sources: OUTPUT, or BUILT,
# which `make build` may have left; where neither is, compiles OUTPUT, which takes minutes. Exit code 1: it does not compile.
set -eu
nvcc=$1 output=$2
kernels=$(cd "$(dirname "$0")/../kernels" && pwd)
for library in "$output" "${3:-}"; do
  [ -f "$library" ] || continue
  newer=$(find "$kernels/cuda" "$kernels" -maxdepth 1 \( -name '*.cu' -o -name '*.cuh' -o -name '*.h' -o -name build.sh \) -newer "$library")
  [ -z "$newer" ] || continue
  echo "$library"
  exit 0
done
DART_REQUIRE_CUDA=1 sh "$kernels/cuda/build.sh" "$nvcc" "$output" "$kernels"/cuda/*.cu >&2
echo "$output"
