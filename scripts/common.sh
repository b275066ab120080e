# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the other scripts: the cache, its locks, and functions that look up Debian
# packages and unpack them without installing them.
#
# Downloads and kernels are kept in $SMCR_CACHE (default ~/.cache/smcr), outside of the
# tree, so that neither `make clean` nor a fresh checkout costs a kernel build.

# Progress goes to stderr: the scripts' stdout is their machine-readable result.
say() { echo "${0##*/}: $*" >&2; }
die() { echo "${0##*/}: $*" >&2; exit 1; }

# The comment at the script's beginning is its help.
case ${1:-} in
-h|--help) awk 'NR > 3 && !/^#/ { exit } NR > 3 { sub(/^# ?/, ""); print }' "$0"; exit 0 ;;
esac

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SMCR_CACHE=${SMCR_CACHE:-${HOME:-/nonexistent}/.cache/smcr}
JOBS=${JOBS:-$(n=$(nproc); echo $((n > 2 ? 2 : n)))}
mkdir -p "$SMCR_CACHE/dl" 2>/dev/null && [ -w "$SMCR_CACHE/dl" ] ||
	die "cannot write to $SMCR_CACHE (SMCR_CACHE=DIR names another place)"

need() {
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null || die "needs '$c' (run: sudo scripts/deps)"
	done
}

# use_ccache: what this tree has compiled before, at this path and with these options, is not
# compiled again. Warnings are kept with the object. Without ccache the compiler runs.
use_ccache() {
	[ -d /usr/lib/ccache ] || return 0
	export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$SMCR_CACHE/ccache CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-2G}
}

# kernel_lane NAME|KDIR: uml or qemu, from selftests/kernels.toml; "path" for a path.
kernel_lane() {
	case $1 in
	*/*|.|..) echo path ;;
	*) need python3
	   "$TOP/selftests/lib/kernels.py" "$1" lane 2>/dev/null || : ;;
	esac
}

# kernel_names [FIELD=VALUE]: the names in that file, for a usage message.
kernel_names() {
	"$TOP/selftests/lib/kernels.py" "$@" | tr ' ' '|'
}

# with_lock NAME CMD...: run CMD under the lock NAME. Two checkouts (or make -j) often need
# the same kernel of the cache at the same time. If NAME is a path, it is a folder in a
# checkout: the lock file is beside the folder and is deleted with the checkout.
with_lock() {
	local name=$1 lock=$SMCR_CACHE/lock/$1; shift
	[[ $name != /* ]] || lock=$name.lock
	mkdir -p "${lock%/*}"
	(
		flock -n 9 || { say "waiting for another process that prepares $name"; flock 9; }
		"$@" 9>&-
	) 9>"$lock"
}

# suite_base SUITE: the archive's base URL, taken from apt's own sources so
# that no host name has to be written down. Security suites have their own.
suite_base() {
	local kind=main uri
	[[ $1 == *-security ]] && kind=security
	command -v apt-get >/dev/null || die "needs apt (a Debian system)"
	# One line per configured package list, fetched yet or not: URI and suite.
	uri=$(apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
	      awk -v kind="$kind" '
		kind == "security" && $2 ~ /-security$/ { print $1; exit }
		kind == "main" && $2 ~ /^(bullseye|bookworm|trixie|forky|sid|stable|oldstable|testing|unstable)$/ { print $1; exit }')
	[ -n "$uri" ] || die "apt's sources name no Debian $kind archive"
	echo "${uri%/}"
}

# packages SUITE [fresh]: path of the suite's package list for $DEB_ARCH. It is downloaded
# when it is missing, with "fresh" always. pkg_field and unpack_deb use the same list.
DEB_ARCH=amd64
packages() {
	local suite=$1 f=$SMCR_CACHE/dl/Packages.$1 base
	[ "$DEB_ARCH" = amd64 ] || f+=.$DEB_ARCH
	if [ ! -s "$f" ] || [ "${2:-}" = fresh ]; then
		need curl xz
		base=$(suite_base "$suite") || exit 1
		say "fetching the package list of $suite, $DEB_ARCH"
		curl -fsSL --retry 3 "$base/dists/$suite/main/binary-$DEB_ARCH/Packages.xz" |
			xz -dc > "$f.tmp.$$" || { rm -f "$f.tmp.$$"; die "no network, or no suite $suite"; }
		mv "$f.tmp.$$" "$f"
	fi
	echo "$f"
}

# pkg_field SUITE PACKAGE FIELD: value of FIELD in the last (newest) entry of PACKAGE.
pkg_field() {
	local list
	list=$(packages "$1") || return 1
	awk -v p="$2" -v f="$3:" '
		/^Package: / { c = $2 }
		$1 == f && c == p { sub(/^[^:]*: */, ""); v = $0 }
		END { print v }' "$list"
}

# unpack_deb SUITE PACKAGE DIR: download, check the list's SHA256, dpkg -x.
# Returns 1 when the suite has no such package.
unpack_deb() {
	local suite=$1 pkg=$2 dir=$3 file sum base deb try
	for try in 1 2; do
		file=$(pkg_field "$suite" "$pkg" Filename) || return 1
		[ -n "$file" ] || return 1
		sum=$(pkg_field "$suite" "$pkg" SHA256)
		base=$(suite_base "$suite") || exit 1
		deb=$SMCR_CACHE/dl/${file##*/}
		if [ -s "$deb" ] || curl -fsSL --retry 3 -o "$deb.tmp.$$" "$base/$file"; then
			[ -s "$deb" ] || mv "$deb.tmp.$$" "$deb"
			break
		fi
		rm -f "$deb.tmp.$$"
		[ "$try" = 1 ] || die "cannot download $pkg of $suite"
		# The archive has changed since the list was fetched.
		packages "$suite" fresh >/dev/null
	done
	echo "$sum  $deb" | sha256sum -c --quiet >&2 || { rm -f "$deb"; die "$pkg: checksum mismatch"; }
	mkdir -p "$dir"
	dpkg -x "$deb" "$dir"
	rm -f "$deb"
}
