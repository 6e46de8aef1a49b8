#!/bin/sh
# build.sh FOLDER: compiles check_kernels into FOLDER. Needs a C++17 compiler and nothing else.
set -e
folder=$1
cd "$(dirname "$0")"
mkdir -p "$folder"
"${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra -o "$folder/check_kernels" $(ls ./*.cc | grep -v testing) -ldl
