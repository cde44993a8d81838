# ./just lists the recipes, ./just NAME runs one. Nothing needs to be installed
# by hand but Rust, g++ and Python with pip: what else a recipe needs it puts
# into .tools/, pinned, the first time.

# A line of a recipe runs in the checkout's folder, with $target_dir for what it writes. TRISAGE_FROM is where the user is, and
# their paths are seen from there.
export TRISAGE_FROM := invocation_directory()
export TRISAGE_ROOT := justfile_directory()
set shell := ["bash", "-p", "-c", 'exec "$TRISAGE_ROOT/.setup/recipe.sh" "$@"', "just"]
set positional-arguments

# Runs a command with Verilator in its environment.
verilator := ".setup/verilator.sh"
trisage := verilator + " cargo run --release --quiet --bin trisage --"
trisage_there := trisage + there
there := ' -C "$TRISAGE_FROM"'

# Runs a command with libclang in its environment.
libclang := ".setup/libclang.sh"

# Runs a command with libtorch in its environment as well; what trains is built with it, and nothing else is.
libtorch := ".setup/libtorch.sh " + verilator
trisage_torch := libtorch + " cargo run --release --quiet --features trisage/torch,trisage/cuda --bin trisage --"
trisage_torch_there := trisage_torch + there

# List the recipes
default:
    @{{ quote(just_executable()) }} --justfile {{ quote(justfile()) }} --list --unsorted

# Build the `trisage` command (further arguments go to cargo)
build *args: _rust
    .setup/cargo.sh build --release "$@"

# Compare the software model and the simulated RTL with the reference sampler
sim-verify seed="1": (rtl-models "fast") \
    (_verify "model" "tests/data/cora" seed) \
    (_verify "rtl" "tests/data/cora" seed) \
    (_verify "model" "gen:hub:nodes=3000,hubs=4" seed) \
    (_verify "rtl" "gen:hub:nodes=3000,hubs=4" seed) \
    (_verify "model" "gen:star:nodes=5000" seed) \
    (_verify "rtl" "gen:star:nodes=5000" seed) \
    (_verify "model" "gen:empty:nodes=100" seed) \
    (_verify "rtl" "gen:empty:nodes=100" seed) \
    (_verify "model" "gen:multi:nodes=500" seed) \
    (_verify "rtl" "gen:multi:nodes=500" seed)

# Compare the back end for cards with the reference, through AMD's XRT (Debian: libxrt1) and with the RTL as the card; TRISAGE_GRAPHS may name a folder with email_eu_core
xrt-verify seed="1": (rtl-models "fast")
    @graphs=(tests/data/cora gen:rmat:scale=10,edges=25571); \
        if [[ -e ${TRISAGE_GRAPHS:-}/email_eu_core ]]; then graphs+=("$TRISAGE_GRAPHS/email_eu_core"); \
        else echo "xrt-verify: no graph email_eu_core (TRISAGE_GRAPHS is '${TRISAGE_GRAPHS:-}'); going on without it" >&2; fi; \
        for graph in "${graphs[@]}"; do \
            printf '\n== xrt: %s\n' "$graph"; \
            {{ trisage }} emulate --skip-without-xrt --folder "$target_dir/xrt" -- trisage verify --backend xrt --xclbin {xclbin} \
                --graph "$graph" --fanouts 10,10,10 --iterations 6 --seed "$1"; \
        done
    @printf '\n== xrt: without a card, as far as there is a way\n'; \
        said=$({{ trisage }} emulate --shim noop --skip-without-xrt --folder "$target_dir/xrt" -- trisage device validate --xclbin {xclbin} 2>&1) || true; \
        case $said in \
            *skipped:*) echo "$said" ;; \
            *'it wrote no status block'*) echo 'loaded, bound, started and shut down; there can be no result' ;; \
            *) echo "$said" >&2; exit 1 ;; \
        esac

# Run all tests of the workspace, those of training too (further arguments go to `cargo test`)
test *args: rtl-models _libtorch _nvrtc _shellcheck
    {{ libtorch }} .setup/nvrtc.sh .setup/cargo_test.sh --workspace --features trisage/torch,trisage/cuda --no-fail-fast "$@"

# Check format, lints and bindings of the Rust code, and lint the RTL
lint: _rust _libtorch _libclang && rtl-lint
    cargo fmt --all --check
    cargo clippy --locked --workspace --all-targets -- -D warnings
    cargo clippy --locked -p pipeline -p trisage --features cuda --all-targets -- -D warnings
    {{ libtorch }} cargo clippy --locked -p learn -p trisage --features torch --all-targets -- -D warnings
    {{ libtorch }} cargo clippy --locked -p learn -p trisage --features torch,cuda --all-targets -- -D warnings
    {{ libclang }} cargo test --quiet -p verilator-sys --features bindgen --test bindings

# Make the Rust bindings of the models' C header anew (sim/verilator-sys/src/bindings.rs)
bindings: _rust _libclang
    {{ libclang }} cargo run -p verilator-sys --features bindgen --bin generate-bindings

# Lint the RTL, the benches of its modules, and the wrappers that it is packaged with, with Verilator
rtl-lint: _verilator _rust
    @waivers=hw/rtl/lint.vlt; [[ -e $waivers ]] || waivers=; \
        {{ verilator }} verilator --lint-only -Wall --quiet -Ihw/rtl --top-module trisage_sampler $waivers -F hw/rtl/files.f; \
        {{ verilator }} verilator --lint-only -Wall --quiet -Ihw/rtl -Ihw/bench --top-module module_bench \
            $waivers hw/bench/lint.vlt -F hw/rtl/files.f -F hw/bench/files.f; \
        for board in u200 u280 u55c; do \
            out=$target_dir/lint/$board; \
            mkdir -p "$out"; \
            cargo run --quiet --release -p hw --bin kernel-files -- $board hw/vitis/$board.cfg "$out"; \
            {{ verilator }} verilator --lint-only -Wall -Wno-PINCONNECTEMPTY -Wno-SYMRSVDWORD --quiet -Ihw/rtl \
                --top-module trisage_kernel $waivers -F hw/rtl/files.f "$out/trisage_kernel.v"; \
        done
    @echo 'rtl-lint: no warnings'

# Synthesise the RTL with Yosys: its size by module and against the boards; fail on a latch or a changed size (--update records it, --modules tells the size of each)
synth *args: _pyosys
    @log=$target_dir/rtl-synth.log; \
        .setup/pyosys.sh .setup/rtl_synth.py hw/rtl/files.f trisage_sampler "$log" hw/rtl/size.json "$@" || \
        { echo "synth: failed; what Yosys did is in $log" >&2; exit 1; }

# Prove with Yosys what queues, arbiter and the order of the lines promise; each proof also has to find mistakes that are put in
formal: _pyosys
    @.setup/pyosys.sh .setup/rtl_formal.py hw/rtl hw/formal "$target_dir/formal"

# Compile RTL models: `fast` is what sim-verify runs, tests run `test` too, with the benches of the modules
rtl-models variants="test,fast": _verilator _rust
    @{{ verilator }} cargo build --release --bin trisage
    @{{ trisage }} rtl build --variant "$1" >/dev/null

# Count the cycles of the simulated RTL, and what bounds them; TRISAGE_GRAPHS may name a folder with cnr_2000 and fb_cornell5
bench-rtl *args: _verilator _rust
    @graphs=(--graph gen:power-law:shape=products,scale=1/16,seed=1); \
        for name in cnr_2000 fb_cornell5; do \
            if [[ -e ${TRISAGE_GRAPHS:-}/$name ]]; then graphs+=(--graph "$TRISAGE_GRAPHS/$name"); \
            else echo "bench-rtl: no graph $name (TRISAGE_GRAPHS is '${TRISAGE_GRAPHS:-}'); going on without it" >&2; fi; \
        done; \
        {{ trisage_there }} bench rtl "${graphs[@]}" --batch-size 256 --fanouts 10,10,10 --fanouts 15,10,5 \
            --profiles hbm,ideal,ddr4 --channels 1,2,4,8 "$@"

# Measure how well sampling and consuming overlap, with a consumer that is as slow as the card; which is the model as slow as a card of so many MHz, since at full speed its kernels take turns on the processor
bench-overlap clock="5" *args: _rust
    @cargo run --release --quiet --bin trisage -- {{ there }} bench overlap --accelerator simulated --clock "$1" \
        --graph gen:power-law:shape=products,scale=1/16,seed=1 "${@:2}"

# Train a model: `./just train sage --data DIR ...`; libtorch is installed the first time (its part for GPUs by `.setup/libtorch.sh --cuda`)
train *args: _rust _libtorch
    @{{ trisage_torch_there }} train "$@"

# Train GraphSAGE on PubMed, whose data set TRISAGE_GRAPHS/pubmed has to be, to the accuracy that README.md tells
train-demo: _rust _libtorch
    @[[ -e ${TRISAGE_GRAPHS:-}/pubmed/labels.npy ]] || { \
        echo "train-demo: needs the data set PubMed in \$TRISAGE_GRAPHS/pubmed (TRISAGE_GRAPHS is '${TRISAGE_GRAPHS:-}'); 'trisage dataset import --help' tells how to make one" >&2; exit 1; }
    @{{ trisage_torch }} train sage --data "$TRISAGE_GRAPHS/pubmed" --config trainer/presets/pubmed.toml

# Measure a step of training GraphSAGE against its plain formulation, on graphs like Reddit's and a quarter of ogbn-products'
bench-train *args: _rust _libtorch
    @{{ trisage_torch_there }} bench train --graph gen:power-law:shape=products,scale=1/4,seed=1 \
        --features 100 --classes 47 --hidden 256 --fanouts 10,10,10 --fanouts 25,10 "$@"
    @{{ trisage_torch_there }} bench train --graph gen:power-law:shape=reddit,seed=1 \
        --features 602 --classes 41 --hidden 256 --fanouts 10,10,10 --fanouts 25,10 "$@"

# Check on a machine with an NVIDIA GPU what no other can check, in less than five minutes; without one it is skipped
gpu-check *args:
    @cd -- "$TRISAGE_FROM" && "$TRISAGE_ROOT/.setup/gpu_check.py" "$@"

# Measure which lines and cover points of the RTL its tests reach; what they do not reach is explained in hw/rtl/uncovered.txt
rtl-coverage: _verilator _rust
    @rm -rf "$target_dir/coverage" && mkdir -p "$target_dir/coverage"
    @export TRISAGE_COVERAGE="$target_dir/coverage"; \
        {{ verilator }} cargo test -p tests --test rtl --test conformance --test units; \
        {{ verilator }} cargo test -p sim --test rtl errors
    @python3 -I .setup/rtl_coverage.py "$target_dir/coverage" hw/rtl

# Check the pipeline's threads: the slot table under every schedule (loom), all of it under random ones (shuttle); and look for undefined behaviour in golden and the pipeline (Miri)
model-check: _rust
    RUSTFLAGS='--cfg loom' cargo test --quiet --target-dir "$target_dir/loom" -p pipeline --lib loom_checks
    RUSTFLAGS='--cfg shuttle' cargo test --quiet --target-dir "$target_dir/shuttle" -p pipeline --test shuttle
    .setup/miri.sh test --quiet --target-dir "$target_dir/miri" -p golden -p golden-files --lib
    .setup/miri.sh test --quiet --target-dir "$target_dir/miri" -p pipeline --lib -- pipeline::slots accelerator::simulated
    .setup/miri.sh test --quiet --target-dir "$target_dir/miri" -p pipeline --test pipeline -- flow::several races::reading_a_copy

# Build the xclbin of a board with Vitis: `./just hw-build U280`; then, if not 300 and hw, its clock in MHz and the target hw or hw_emu
hw-build *args:
    @cd -- "$TRISAGE_FROM" && "$TRISAGE_ROOT/hw/vitis/build.sh" "$@"

# Try an xclbin on this machine's card, and compare what it samples with the reference (docs/alveo.md): `./just hw-verify [XCLBIN]`
hw-verify *args: _rust
    @cd -- "$TRISAGE_FROM" && "$TRISAGE_ROOT/hw/vitis/verify.sh" "$@"

# Check licences and advisories of all dependencies (needs cargo-deny)
deny: _rust
    @cargo deny --version >/dev/null 2>&1 || \
        { echo 'cargo-deny is not installed; get it with: cargo install --locked cargo-deny' >&2; exit 1; }
    cargo deny check

# All that CI checks
ci: lint sim-verify xrt-verify test synth formal

# Remove the installed tools; the next recipe that needs one installs it again
clean-tools:
    rm -rf "${TRISAGE_HOME:-.}/.tools"

# One comparison with the reference; the seed replays it.
_verify backend graph seed:
    @printf '\n== %s: %s\n' "$1" "$2"
    @{{ trisage }} verify --backend "$1" --graph "$2" --fanouts 10,10,10 --iterations 6 --seed "$3"

_rust:
    @.setup/rust.sh

_verilator:
    @.setup/verilator.sh

_libtorch:
    @.setup/libtorch.sh

_pyosys:
    @.setup/pyosys.sh

_libclang:
    @.setup/libclang.sh

_nvrtc:
    @.setup/nvrtc.sh

_shellcheck:
    @.setup/shellcheck.sh
