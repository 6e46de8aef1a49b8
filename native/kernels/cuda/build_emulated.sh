#!/bin/sh
# build_emulated.sh OUTPUT: the CUDA sources as C++ for the CPU (emulate.h), as a library like libdart_cuda.so. Does
# nothing when OUTPUT is newer than the sources. Blocks of 64 threads that keep two vectors each in registers, so that
# short rows reach every path.
set -e
output=$1
cd "$(dirname "$0")"
case $output in /*) ;; *) output=$OLDPWD/$output ;; esac
[ -n "$output" ] && [ -f "$output" ] && [ -z "$(find . .. -maxdepth 1 \( -name '*.cu' -o -name '*.cuh' -o -name '*.h' -o -name '*.sh' \) -newer "$output")" ] && exit 0
part=$output.$$.part
mkdir -p "$(dirname "$output")"
# Without the checks of longjmp in glibc, which take a jump between two fibers for a mistake.
${CXX:-g++} -std=c++20 -O1 -Wall -Wextra -Wno-unknown-pragmas -U_FORTIFY_SOURCE -DDART_ROW_THREADS=64 -DDART_KEPT_VECTORS=2 \
  -shared -fPIC -o "$part" -x c++ ./*.cu
mv "$part" "$output"
