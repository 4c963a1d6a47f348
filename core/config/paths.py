"""Where the files of a Codex home lie. Nothing here touches a disk, `Home.of` aside."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from core.ports import Deps


@dataclass(frozen=True, slots=True)
class Home:
    """The places that Codex reads and writes.

    Attributes:
        home: The person's home directory; marketplaces are looked for there.
        codex_home: `CODEX_HOME`, else `HOME/.codex`.
        system_dir: Holds the system and managed layers, `/etc/codex` outside tests.
    """

    home: Path
    codex_home: Path
    system_dir: Path = Path("/etc/codex")

    @staticmethod
    def of(deps: Deps) -> Home:
        """From the environment: `HOME` only counts when absolute, `CODEX_HOME` when not empty."""
        home = _home(deps.environ.get("HOME") or deps.environ.get("USERPROFILE") or "")
        configured = deps.environ.get("CODEX_HOME", "")
        codex_home = Path(os.path.realpath(configured)) if configured else home / ".codex"
        return Home(home, codex_home, deps.system_dir)

    @property
    def config_file(self) -> Path:
        """The user's `config.toml`: the only layer that is ever written."""
        return self.codex_home / "config.toml"

    @property
    def system_config_file(self) -> Path:
        return self.system_dir / "config.toml"

    @property
    def requirements_file(self) -> Path:
        """Managed requirements."""
        return self.system_dir / "requirements.toml"

    @property
    def auth_file(self) -> Path:
        return self.codex_home / "auth.json"

    @property
    def credentials_file(self) -> Path:
        """OAuth credentials of MCP servers, where they are kept in a file."""
        return self.codex_home / ".credentials.json"

    @property
    def plugins_cache(self) -> Path:
        """Installed copies: `MARKETPLACE/PLUGIN/VERSION`."""
        return self.codex_home / "plugins" / "cache"

    @property
    def plugins_data(self) -> Path:
        """Data of plugins; kept when a plugin leaves."""
        return self.codex_home / "plugins" / "data"

    @property
    def plugins_staging(self) -> Path:
        """Temporary clones and downloads of git and npm plugins."""
        return self.codex_home / "plugins" / ".marketplace-plugin-source-staging"

    @property
    def tmp_dir(self) -> Path:
        return self.codex_home / ".tmp"

    @property
    def marketplaces_dir(self) -> Path:
        """Checkouts of configured git marketplaces, by name."""
        return self.tmp_dir / "marketplaces"

    @property
    def bundled_marketplaces_dir(self) -> Path:
        return self.tmp_dir / "bundled-marketplaces"

    @property
    def curated_dir(self) -> Path:
        """Snapshot of the curated marketplace."""
        return self.tmp_dir / "plugins"

    @property
    def curated_sha_file(self) -> Path:
        """Commit of the curated snapshot."""
        return self.tmp_dir / "plugins.sha"

    @property
    def share_paths_file(self) -> Path:
        """Local paths of shared remote plugins, by remote plugin id."""
        return self.tmp_dir / "plugin-share-local-paths-v1.json"

    @property
    def cache_dir(self) -> Path:
        """Codex' own caches of remote catalogues and app tools; read, never written."""
        return self.codex_home / "cache"

    @property
    def cloud_config_cache_file(self) -> Path:
        return self.codex_home / "cloud-config-bundle-cache.json"

    @property
    def skills_dir(self) -> Path:
        return self.codex_home / "skills"


def _home(from_environment: str) -> Path:
    if os.path.isabs(from_environment):
        return Path(from_environment)
    try:
        import pwd

        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        return Path("/")
