# The packages that are needed besides gcc, make and git, by their names in Debian 12. docs/dependencies.md
# says what each is for. As root the goals install missing packages; otherwise
# they print the apt command and stop.
DEPS_BUILD := binutils libc6-dev libiberty-dev libzydis-dev libpfm4-dev libdw-dev libelf-dev libzstd-dev
DEPS_DEMO  := xz-utils
DEPS_TEST  := linux-perf xz-utils bzip2 gzip zstd pigz sqlite3 perl python3 openssl coreutils gcc g++ \
              libc6-dbg clang libclang-rt-14-dev pkgconf
# More programs that tests/programs/many.list runs. It also names others, which run where they are installed.
DEPS_MANY  := bc cpio ed file gdb gettext git groff-base jq less libxml2-utils llvm lz4 man-db mandoc nodejs patch \
              universal-ctags unzip valgrind vim xxd zip catch2 libbenchmark-dev python3-pytest-benchmark
DEPS_MORE  := $(DEPS_MANY) bubblewrap chromium dpkg-dev ffmpeg firefox-esr golang-go libcap-dev libcap-ng-dev libnuma-dev linux-perf linux-source-6.1 luajit nginx-light npm papi-tools postgresql procps redis-server \
              redis-tools ruby rustc sbcl stress-ng wrk xz-utils zlib1g-dev default-jdk-headless \
              ecl emacs-nox erlang-base gnuplot-nox graphviz guile-3.0 mono-mcs mono-runtime ocaml-nox php-cli r-base-core \
              sox swi-prolog-nox zsh
DEPS_PGO   := bolt-16 clang-14 llvm-14 dpkg-dev linux-perf gcc time
DEPS_DOCS  := doxygen
DEPS_LINT  := $(DEPS_DOCS) clang clang-format clang-tidy cppcheck mandoc nodejs shellcheck libunicorn-dev
DEPS_BENCH := xz-utils bzip2 gzip zstd sqlite3 perl python3 openssl coreutils gcc valgrind qemu-user

.PHONY: deps deps-build deps-docs deps-demo deps-test deps-lint deps-bench deps-pgo deps-many deps-more
deps: deps-test deps-lint
deps-build:
	@tools/install-deps.sh $(DEPS_BUILD)
deps-docs:
	@tools/install-deps.sh $(DEPS_BUILD) $(DEPS_DOCS)
deps-demo:
	@tools/install-deps.sh $(DEPS_BUILD) $(DEPS_DEMO)
deps-test:
	@tools/install-deps.sh $(DEPS_BUILD) $(DEPS_TEST)
deps-lint:
	@tools/install-deps.sh $(DEPS_BUILD) $(DEPS_LINT)
deps-many:
	@tools/install-deps.sh $(DEPS_BUILD) $(DEPS_TEST) $(DEPS_MANY)
deps-more:
	@tools/install-deps.sh $(DEPS_BUILD) $(DEPS_TEST) $(DEPS_MORE)
deps-pgo:
	@tools/install-deps.sh $(DEPS_BUILD) $(DEPS_PGO)
deps-bench:
	@tools/install-deps.sh $(DEPS_BUILD) $(DEPS_BENCH)
