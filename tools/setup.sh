# Sourced by ./slipstick, ./test and tools/*: installs what is missing, configures and builds. Needs $root (the project).

say() { printf '%s\n' "$*" >&2; }

# need_packages GROUP...: installs the missing packages of the groups in tools/packages.txt.
need_packages() {
  local missing=() group name
  while read -r group name; do
    case " $* " in *" $group "*) ;; *) continue ;; esac
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done < <(grep -v '^#' "$root/tools/packages.txt")
  [ ${#missing[@]} -eq 0 ] && return 0
  if ! command -v apt-get >/dev/null; then
    say "slipstick: these packages are missing (Debian names): ${missing[*]}"
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    say "slipstick: some packages are missing. Please let root type this once, then run the command again:"
    say "    apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    return 1
  fi
  say "slipstick: installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
         apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    say "slipstick: the packages could not be installed (see above)"
    return 1
  fi
  rm -f "$log"
}

# need_npm: Node's package manager for the viewer's page, from wherever this system has it. Without it all else works.
need_npm() {
  command -v npm >/dev/null && return 0
  need_packages viewer || say "slipstick: going on without the viewer (it is built with npm)"
  return 0
}

# build PRESET TARGET...: configures if need be and builds, with one line of progress on a terminal.
build() {
  local preset=$1 dir="$root/build/$1" log
  shift
  mkdir -p "$dir" || return 1
  log="$dir/build.log"
  # A build tree that was moved, or made by another CMake, is worthless: start it anew.
  if [ -f "$dir/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
    rm -rf "$dir" && mkdir -p "$dir"
  fi
  if [ ! -f "$dir/build.ninja" ] && ! (cd "$root" && cmake --preset "$preset" ${SLIPSTICK_CMAKE_ARGS:-}) >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "slipstick: configuring failed; the whole log is $log"
    return 1
  fi
  say "slipstick: building ($preset) ..."
  if [ -t 2 ]; then
    ninja -C "$dir" "$@" 2>&1 | tee "$log" | while IFS= read -r line; do
      case $line in \[*) printf '\r\033[K%s' "${line:0:78}" >&2 ;; esac
    done
    printf '\r\033[K' >&2
    [ "${PIPESTATUS[0]}" -eq 0 ] && return 0
  else
    ninja -C "$dir" "$@" >"$log" 2>&1 && return 0
  fi
  grep -E 'error|FAILED' -A 4 "$log" | head -n 40 >&2
  say "slipstick: the build failed; the whole log is $log"
  return 1
}
