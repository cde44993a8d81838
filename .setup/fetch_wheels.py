"""Downloads with pip the wheels that a file pins, one or more, and unpacks them.

usage: fetch_wheels.py REQUIREMENTS FOLDER [PIP-OPTION...]

pip refuses a wheel whose sha256 is not listed. What the user has told pip, in
its configuration files or in variables PIP_..., counts only as far as it says
where packages are and how they are reached: all else (constraints, --user,
other platforms, ...) is about other installations, and would change or stop
this one. TRISAGE_FROM is the user's folder, from which their paths are seen;
the current one has no Python files in it, as pip would import them.
"""

import ast
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# Options of pip that say where packages are and how they are reached.
SETTINGS = (
    "index-url",
    "pypi-url",
    "extra-index-url",
    "no-index",
    "find-links",
    "trusted-host",
    "proxy",
    "cert",
    "client-cert",
    "keyring-provider",
    "use-feature",
    "use-deprecated",
    "timeout",
    "default-timeout",
    "retries",
    "resume-retries",
    "cache-dir",
    "no-cache-dir",
    "disable-pip-version-check",
)
# Those whose values are paths, or may be.
PATHS = ("find-links", "cert", "client-cert", "cache-dir")
PIP = [sys.executable, "-m", "pip"]


def variable(option: str) -> str:
    """The name under which pip finds an option in its environment."""
    return "PIP_" + option.upper().replace("-", "_")


def configured(environment: dict[str, str]) -> dict[str, str]:
    """What pip's configuration files say, as for the command `download`."""
    plain = environment | {"PIP_QUIET": "0", "PIP_VERBOSE": "0", "PIP_NO_CACHE_DIR": "1", "NO_COLOR": "1"}
    listed = subprocess.run([*PIP, "config", "list"], env=plain, stdout=subprocess.PIPE, text=True, check=False)
    if listed.returncode != 0:
        sys.exit("pip cannot read its configuration (see above)")
    entries = (line.partition("=") for line in listed.stdout.splitlines())
    said = {name: ast.literal_eval(value) for name, found, value in entries if found and not name.startswith(":env:")}
    of = {section: {n.partition(".")[2]: v for n, v in said.items() if n.startswith(section + ".")} for section in ("global", "download")}
    return of["global"] | of["download"]


def can_write(folder: Path) -> bool:
    """Whether the folder can be written, or made and then written."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return there.is_dir() and os.access(there, os.W_OK)


def absolute(words: str) -> str:
    """Paths as seen from the user's folder; addresses as they are."""
    user = os.environ["TRISAGE_FROM"]
    return " ".join(word if "://" in word else os.path.join(user, os.path.expanduser(word)) for word in words.split())


def environment_of_pip() -> dict[str, str]:
    """The user's environment, with nothing about Python and pip in it but their settings."""
    others = {n: v for n, v in os.environ.items() if not n.startswith(("PIP_", "PYTHON")) and n not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
    files = {n: v for n, v in os.environ.items() if n == "PIP_CONFIG_FILE"}
    settings = configured(others | files)
    settings |= {option: os.environ[variable(option)] for option in SETTINGS if variable(option) in os.environ}
    if "cache-dir" not in settings and not can_write(Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()):
        settings["no-cache-dir"] = "1"  # pip would warn
    kept = {option: absolute(settings[option]) if option in PATHS else settings[option] for option in SETTINGS if option in settings}
    # An empty file of configuration keeps pip from reading any other.
    return others | {variable(option): value for option, value in kept.items()} | {"PIP_CONFIG_FILE": os.devnull}


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    requirements, folder, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir=".") as wheels:
        command = [*PIP, "download", "--quiet", "--progress-bar", "off", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        command += [*options, "--dest", wheels, "--requirement", requirements]
        if subprocess.run(command, env=environment_of_pip(), check=False).returncode != 0:
            return 1
        for wheel in Path(wheels).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
            wheel.unlink()  # some are large
    return 0


if __name__ == "__main__":
    sys.exit(main())
