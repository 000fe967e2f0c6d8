#!/bin/sh
# Builds the image where no registry of images can be reached: the base is made of Debian's packages.
# Needs root, mmdebstrap and buildah (Debian: apt install mmdebstrap buildah). See docker/README.md.
set -eu

usage() {
    cat <<'WORDS'
docker/build_without_registry.sh [--pip-config FILE] [--certificates FILE] [--volume FROM:TO]... [--mirror URL]
                                 [--security URL] [--tag NAME] [--base-only | --image-only]

  --pip-config FILE    this machine's pip.conf, for where packages come from; it is there while the image is built, not in it
  --certificates FILE  a bundle of certificate authorities to trust while building, where a proxy speaks TLS in its own name;
                       `cert = /etc/ssl/certs/building.crt` in pip.conf names it
  --volume FROM:TO     a folder that must be there while building, such as the wheels that pip.conf names; read-only
  --mirror URL         Debian's packages (Debian's own, with its updates and security updates)
  --security URL       Debian's security updates, beside --mirror
  --tag NAME           what the image is called (jackpot:local, as compose.yaml calls it)
WORDS
}

mirror=
security=
tag=jackpot:local
base=yes
image=yes
with=
while [ $# -gt 0 ]; do
    case "$1" in
        --pip-config)   with="$with --secret id=pip,src=$(realpath "$2")"; shift 2 ;;
        --certificates) with="$with --secret id=certificates,src=$(realpath "$2")"; shift 2 ;;
        --volume)       with="$with --volume $2:ro"; shift 2 ;;
        --mirror)       mirror=$2; shift 2 ;;
        --security)     security=$2; shift 2 ;;
        --tag)          tag=$2; shift 2 ;;
        --base-only)    image=no; shift ;;
        --image-only)   base=no; shift ;;
        --help|-h)      usage; exit 0 ;;
        *)              echo "$1: there is no such option; --help lists them" >&2; exit 2 ;;
    esac
done
root=$(cd "$(dirname "$0")/.." && pwd)
name=$(sed -n 's/^FROM \([^ ]*\) AS build$/\1/p' "$root/docker/Dockerfile")
suite=${name##*-}
python=$(echo "$name" | sed 's/^python:\([0-9.]*\)-.*$/python\1/')

if [ "$base" = yes ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    set -- "$suite" "$work/base.tar"
    [ -z "$mirror" ] || set -- "$@" "deb $mirror $suite main"
    [ -z "$security" ] || set -- "$@" "deb $security $suite-security main"
    # Documents, translations and lists of packages are of no use in an image; licences stay. usr-is-merged spares it Perl's
    # library (50 MB), and pip comes with venv.
    mmdebstrap --variant=minbase --mode=root --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
        --include="usr-is-merged,$python,$python-venv,ca-certificates,tzdata" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        --customize-hook="ln -sf $python \"\$1/usr/bin/python\"" \
        --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/log/*' \
        "$@"
    container=$(buildah from scratch)
    buildah add --quiet "$container" "$work/base.tar" / >/dev/null
    buildah config --cmd "$python" --env LANG=C.UTF-8 "$container"
    buildah commit --quiet --rm --format docker "$container" "$name" >/dev/null
fi
if [ "$image" = yes ]; then
    # shellcheck disable=SC2086 # each of them is two words
    buildah bud --format docker --isolation chroot --pull=never --layers $with \
        --file "$root/docker/Dockerfile" --tag "$tag" "$root"
fi
buildah images --format '{{.Name}}:{{.Tag}} {{.Size}}'
