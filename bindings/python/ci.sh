#!/usr/bin/env bash
# The Python package: builds the wheel, installs it in a fresh environment, and checks and tests it there.
# What it needs from the package index is installed once, into target/python-tests.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
tools=$root/target/python-tests
fresh=$root/target/python-fresh
wheels=$root/target/wheels

step() {
    printf '\n== %s\n' "$*"
    local start=$SECONDS
    "$@"
    printf '== %s s\n' "$((SECONDS - start))"
}

install_tools() {
    python3 -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet -r requirements-test.txt
    cp requirements-test.txt "$tools/installed.txt"
}

# A new environment that sees the tools, with nothing of the package but the wheel.
install_wheel() {
    rm -rf "$fresh"
    python3 -m venv "$fresh"
    local site
    site=$("$fresh/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    "$tools/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > "$site/tools.pth"
    "$fresh/bin/python" -m pip install --quiet --no-deps "$wheels"/*.whl
}

check_stubs() {
    # From elsewhere, so that the installed package is looked at and not the source.
    (cd "$fresh" && bin/python -m mypy.stubtest adjoin._rust)
}

if ! cmp -s requirements-test.txt "$tools/installed.txt"; then
    step install_tools
fi
rm -rf "$wheels"
step cargo fmt --check
step "$tools/bin/maturin" build --release --locked --quiet --interpreter "$tools/bin/python" --out "$wheels"
step install_wheel
step "$tools/bin/abi3audit" --strict "$wheels"/*.whl
step check_stubs
step "$fresh/bin/python" -m pytest tests -p no:cacheprovider
step "$fresh/bin/python" examples/gcn_on_cora.py --epochs 12 --seeds 1
step "$fresh/bin/python" examples/digits_without_a_graph.py --epochs 12
step "$fresh/bin/python" examples/points_with_adaptive_k.py --epochs 2 --clouds 6
