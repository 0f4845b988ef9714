#!/bin/sh
# Installs Weir: downloads the executable for this machine, checks its SHA-256, and puts it on PATH.
#
#   install.sh [--version 0.1.0] [--folder DIR] [--no-path]
#
#   --version VERSION   that release (default: the newest)
#   --folder DIR        where to put it (default: WEIR_INSTALL_FOLDER or ~/.local/bin)
#   --no-path           change no start-up file of a shell
#
# Needs curl or wget. WEIR_RELEASES is the address of the releases, for mirrors.
set -eu

# The release workflow puts its own repository here.
releases=${WEIR_RELEASES:-https://github.com/weir-agent/weir/releases}
version=
folder=${WEIR_INSTALL_FOLDER:-}
change_path=yes
work=

main() {
  read_options "$@"
  name=$(choose_executable)
  if [ -z "$folder" ]; then
    [ -n "${HOME:-}" ] || fail "there is no HOME, say where with --folder DIR"
    folder=$HOME/.local/bin
  fi
  case $name in *.exe) program=weir.exe ;; *) program=weir ;; esac
  source=$releases/latest/download
  [ -z "$version" ] || source=$releases/download/v${version#v}

  mkdir -p "$folder" || fail "$folder cannot be made, choose another with --folder DIR"
  folder=$(cd "$folder" && pwd)
  # Beside its place, so that the last step is a rename.
  work=$(mktemp -d "$folder/.weir-install.XXXXXX") || fail "$folder cannot be written, choose another with --folder DIR"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  download "$source/SHA256SUMS" "$work/SHA256SUMS"
  wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1; exit }' "$work/SHA256SUMS")
  [ -n "$wanted" ] || fail "$source/SHA256SUMS has no line for $name, this release was not made for your system"
  echo "Downloading $source/$name"
  download "$source/$name" "$work/$name"
  found=$(checksum "$work/$name")
  [ "$found" = "$wanted" ] ||
    fail "the SHA-256 of $name is $found, expected $wanted; nothing was installed, try again"
  chmod 755 "$work/$name"
  mv -f "$work/$name" "$folder/$program"
  echo "Installed $folder/$program, SHA-256 as published"
  put_on_path
  echo "Try it: $program --version"
}

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --folder)
        [ $# -gt 1 ] && [ -n "$2" ] || fail "$1 needs a value"
        if [ "$1" = --version ]; then version=$2; else folder=$2; fi
        shift 2
        ;;
      --no-path) change_path=no && shift ;;
      *) fail "unknown option $1, there are --version VERSION, --folder DIR and --no-path" ;;
    esac
  done
  case $version in
    *[!A-Za-z0-9.+-]*) fail "\"$version\" is no version, write it like 0.1.0" ;;
  esac
}

# The name of the file for this machine, as scripts/compile.ts calls it.
choose_executable() {
  system=$(uname -s)
  processor=$(uname -m)
  case $system in
    Linux) system=linux ;;
    Darwin) system=macos ;;
    MINGW* | MSYS* | CYGWIN*) system=windows ;;
    *) fail "no executable is made for $system, run Weir with Deno instead" ;;
  esac
  # A shell that runs translated on Apple silicon is told the wrong processor.
  if [ "$system" = macos ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then
    processor=arm64
  fi
  case $processor in
    x86_64 | amd64) processor=x86_64 ;;
    aarch64 | arm64) processor=aarch64 ;;
    *) fail "no executable is made for the processor $processor, run Weir with Deno instead" ;;
  esac
  case $system-$processor in
    windows-aarch64) fail "no executable is made for Windows on ARM, run Weir with Deno instead" ;;
    windows-*) echo "weir-$system-$processor.exe" ;;
    linux-*)
      # The other C library is not what the executables are linked with.
      if (ldd --version 2>&1 || true) | grep -qi musl; then
        fail "the executables need glibc and this system has musl, run Weir with Deno instead"
      fi
      echo "weir-$system-$processor"
      ;;
    *) echo "weir-$system-$processor" ;;
  esac
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 -o "$2" "$1" || fail "$1 could not be downloaded"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1" || fail "$1 could not be downloaded"
  else
    fail "there is neither curl nor wget, install one of them"
  fi
}

checksum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | awk '{ print $1 }'
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | awk '{ print $1 }'
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r "$1" | awk '{ print $1 }'
  else
    fail "nothing here computes SHA-256 sums, install sha256sum, shasum or openssl"
  fi
}

put_on_path() {
  case ":${PATH:-}:" in *":$folder:"*) return ;; esac
  if [ "$change_path" = no ] || [ -z "${HOME:-}" ]; then
    echo "$folder is not on PATH, add it there"
    return
  fi
  # What stands in quotes below must be one word for the shell.
  case $folder in
    *[\"\$\`\\]*) echo "$folder is not on PATH, add it there" && return ;;
  esac
  line="export PATH=\"$folder:\$PATH\""
  login_shell=${SHELL:-}
  case ${login_shell##*/} in
    zsh) file=${ZDOTDIR:-$HOME}/.zshrc ;;
    bash) if [ "$(uname -s)" = Darwin ]; then file=$HOME/.bash_profile; else file=$HOME/.bashrc; fi ;;
    fish) file=$HOME/.config/fish/config.fish && line="fish_add_path \"$folder\"" ;;
    *) file=$HOME/.profile ;;
  esac
  if grep -qsF "$line" "$file"; then
    echo "$file puts $folder on PATH already; open a new shell"
    return
  fi
  if mkdir -p "$(dirname "$file")" && printf '\n# Weir\n%s\n' "$line" >>"$file"; then
    echo "Put $folder on PATH in $file; open a new shell"
  else
    echo "$folder is not on PATH, and $file cannot be changed; add it there"
  fi
}

fail() {
  echo "Cannot install Weir: $*" >&2
  exit 1
}

# Last, so that a download of this file that broke off runs nothing.
main "$@"
