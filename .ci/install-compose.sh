#!/usr/bin/env bash
# Puts the compose plugin into ~/.docker/cli-plugins on a Debian machine whose own release does not carry it.
# Takes it from a newer suite of the same mirrors that the machine's apt sources name, into a folder of its own:
# nothing else of the newer suite is installed or seen by the machine's apt. Does nothing where compose answers.
set -euo pipefail

suite=${STAGELIGHT_COMPOSE_SUITE:-forky}
plugins=${DOCKER_CONFIG:-$HOME/.docker}/cli-plugins

answers() { docker compose version >/dev/null 2>&1 || "$plugins/docker-compose" version >/dev/null 2>&1; }

if answers; then
  echo "compose: already here"
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "compose: this machine has no apt-get; install Docker's compose plugin by hand" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/tree" "$plugins"
. /etc/os-release

# One line a mirror, whichever of apt's two formats the machine uses; only the mirrors of the release itself.
list_mirrors() {
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true; } |
    sed -E 's/#.*//' | awk -v code="$VERSION_CODENAME" '
      $1 == "deb" { line = $0; sub(/\[[^]]*\]/, "", line); split(line, part, " "); if (part[3] == code) print part[2] }'
  { cat /etc/apt/sources.list.d/*.sources 2>/dev/null || true; } | awk -v code="$VERSION_CODENAME" 'BEGIN { RS = ""; FS = "\n" }
    { uris = ""; suites = ""
      for (i = 1; i <= NF; i++) {
        if ($i ~ /^URIs:/) { uris = $i; sub(/^URIs: */, "", uris) }
        if ($i ~ /^Suites:/) { suites = $i; sub(/^Suites: */, "", suites) }
      }
      if ((" " suites " ") ~ (" " code " ")) { n = split(uris, each, " "); for (i = 1; i <= n; i++) print each[i] } }'
}

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
list_mirrors | sort -u | while read -r mirror; do
  echo "deb [signed-by=$keyring] $mirror $suite main"
done >"$work/sources.list"
if [ ! -s "$work/sources.list" ]; then
  echo "compose: found no Debian mirror for $VERSION_CODENAME in the machine's apt sources; install the plugin by hand" >&2
  exit 1
fi

own_apt() {
  apt-get -q -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache::archives="$work/cache/archives" \
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}
own_apt update >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
(cd "$work" && own_apt download docker-compose >>"$work/log" 2>&1) || { cat "$work/log" >&2; exit 1; }
dpkg -x "$work"/docker-compose_*.deb "$work/tree"
found=$(find "$work/tree" -type f -name docker-compose -path '*cli-plugins*' | head -n 1)
if [ -z "$found" ]; then
  echo "compose: the package docker-compose of $suite holds no plugin; install it by hand" >&2
  exit 1
fi
install -m 0755 "$found" "$plugins/docker-compose.new"
mv "$plugins/docker-compose.new" "$plugins/docker-compose"
"$plugins/docker-compose" version
