#!/bin/sh
# build.sh NVCC OUTPUT SOURCE...: compiles the CUDA kernels into one library for Ampere, Hopper and, as PTX, later GPUs.
# A failure is told and leaves no library: the addon works without, on the CPU. DART_REQUIRE_CUDA=1 makes it an error.
nvcc=$1 output=$2
shift 2

if "$nvcc" -O3 --threads 0 -std=c++17 -shared -cudart static -Xcompiler -fPIC \
  -gencode arch=compute_80,code=sm_80 -gencode "arch=compute_90,code=[sm_90,compute_90]" \
  -o "$output.part" "$@"; then
  mv "$output.part" "$output"
  exit 0
fi

rm -f "$output.part" "$output"
echo "The CUDA kernels did not compile with $nvcc; the toolkit will use the CPU. Try: a host compiler that it supports (NVCC_CCBIN=g++-12)" >&2
[ "${DART_REQUIRE_CUDA:-0}" = 1 ] && exit 1
exit 0
