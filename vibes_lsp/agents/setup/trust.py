"""Whether an agent runs the hooks that were written: what it wants to be trusted, and if it is.

The agents' own files are read, and Codex is asked; nothing is ever trusted on a person's behalf.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from vibes_lsp.agents.all_agents import CodingAgent, ConfigurationFile, Scope, TrustStep, UserHome
from vibes_lsp.agents.programs import codex_hooks
from vibes_lsp.agents.setup.hook_configuration import runs_hook
from vibes_lsp.agents.setup.hook_files import MAX_FILE, find_program
from vibes_lsp.agents.setup.json_edits import parse_document
from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.members import Members, mapping, text, texts
from vibes_lsp.store.files import read_file


class TrustState(StrEnum):
    """Whether an agent runs our hooks.

    Attributes:
        GIVEN: A person trusted what it wants to be trusted.
        MISSING: It does not run them before a person trusts something.
        UNKNOWN: It could not be found out.
        NOT_NEEDED: It wants nothing.
    """

    GIVEN = "given"
    MISSING = "missing"
    UNKNOWN = "unknown"
    NOT_NEEDED = "not needed"


@dataclass(frozen=True, slots=True)
class Trust:
    """The state of an agent's trust.

    Attributes:
        state: Whether it runs our hooks.
        message: What was found; empty if nothing is wanted.
        hint: What a person does to trust them; empty if nothing.
    """

    state: TrustState
    message: str = ""
    hint: str = ""


def check_trust(
    agent: CodingAgent, scope: Scope, files: list[ConfigurationFile], project: Path, home: UserHome
) -> Trust:
    """Return whether an agent runs our hooks in a project.

    Args:
        agent: The agent.
        scope: Whose configuration has the hooks.
        files: The configuration files.
        project: The project's folder.
        home: The person's home.
    """
    if agent.trust is TrustStep.NONE:
        return Trust(TrustState.NOT_NEEDED)
    project = project.resolve()
    match agent.slug:
        case "claude-code":
            return _claude_code(agent, project, home)
        case "codex":
            return _codex(agent, files, project, home)
        case "gemini-cli":
            return _trusted_folders(agent, project, home, is_default=True)
        case "qwen-code":
            return _trusted_folders(agent, project, home, is_default=False)
        case "copilot-cli":
            return _copilot(agent, scope, project, home)
    return Trust(
        TrustState.UNKNOWN,
        f"{agent.name} may ask to trust the folder",
        f"open the folder in {agent.name} and trust it if it asks",
    )


def _claude_code(agent: CodingAgent, project: Path, home: UserHome) -> Trust:
    """`.claude.json` has each folder in which its question was answered."""
    settings = _settings(agent.home_folder(home) / "settings.json")
    if settings.get("disableAllHooks") is True:
        return Trust(
            TrustState.MISSING,
            "disableAllHooks in its settings turns all hooks off",
            "remove disableAllHooks from its settings.json",
        )
    moved = home.variables.get(agent.variable)
    projects = mapping(
        _settings((Path(moved) if moved else home.path) / ".claude.json"), "projects"
    )
    if any(
        mapping(projects, str(folder)).get("hasTrustDialogAccepted") is True
        for folder in (project, *project.parents)
    ):
        return Trust(TrustState.GIVEN, "the folder is trusted")
    return Trust(
        TrustState.MISSING,
        "the folder is not trusted yet; `claude -p` runs the hooks nevertheless",
        "start `claude` in the project and trust the folder when it asks",
    )


def _codex(
    agent: CodingAgent, files: list[ConfigurationFile], project: Path, home: UserHome
) -> Trust:
    """Codex keeps a hash of each trusted hook, and can be asked which are trusted."""
    how = (
        "start `codex` in the project, trust the folder if it asks, and approve the hooks in /hooks"
    )
    program = find_program(agent, home)
    if program is None:
        return Trust(TrustState.UNKNOWN, "`codex` is not on PATH, so it was not asked", how)
    hooks = codex_hooks(program, project, home.variables)
    if hooks is None:
        return Trust(TrustState.UNKNOWN, "`codex app-server` did not say which it trusts", how)
    paths = {str(file.path.resolve()) for file in files} | {str(file.path) for file in files}
    ours = [
        each
        for each in hooks
        if text(each, "sourcePath") in paths and runs_hook(text(each, "command") or "")
    ]
    if not ours:
        return Trust(TrustState.MISSING, "it does not load hooks from an untrusted project", how)
    disabled = sum(each.get("enabled") is not True for each in ours)
    untrusted = sum(text(each, "trustStatus") not in ("trusted", "managed") for each in ours)
    if untrusted:
        return Trust(
            TrustState.MISSING,
            f"{untrusted} of {len(ours)} hooks are not approved, so it does not run them",
            how,
        )
    if disabled:
        return Trust(
            TrustState.MISSING,
            f"{disabled} of {len(ours)} hooks are turned off",
            "enable them in /hooks",
        )
    return Trust(TrustState.GIVEN, "all hooks are approved")


def _trusted_folders(
    agent: CodingAgent, project: Path, home: UserHome, *, is_default: bool
) -> Trust:
    """Gemini CLI and its fork keep rules for folders; the longest one that applies decides."""
    folder = agent.home_folder(home)
    security = mapping(_settings(folder / "settings.json"), "security")
    is_wanted = mapping(security, "folderTrust").get("enabled", is_default)
    if is_wanted is not True:
        return Trust(TrustState.NOT_NEEDED)
    how = f"start `{agent.programs[0]}` in the project and trust the folder when it asks"
    rules = _settings(folder / "trustedFolders.json")
    longest, verdict = -1, ""
    for name in rules:
        rule = text(rules, name) or ""
        trusted = Path(name).parent if rule == "TRUST_PARENT" else Path(name)
        if len(name) > longest and project.is_relative_to(trusted.resolve()):
            longest, verdict = len(name), rule
    if verdict in ("TRUST_FOLDER", "TRUST_PARENT"):
        return Trust(TrustState.GIVEN, "the folder is trusted")
    if verdict == "DO_NOT_TRUST":
        return Trust(TrustState.MISSING, "the folder is marked as not trusted", "use /permissions")
    return Trust(TrustState.MISSING, "the folder is not trusted yet", how)


def _copilot(agent: CodingAgent, scope: Scope, project: Path, home: UserHome) -> Trust:
    if scope is Scope.USER:
        return Trust(TrustState.NOT_NEEDED)
    trusted = texts(_settings(agent.home_folder(home) / "config.json"), "trustedFolders")
    if any(project.is_relative_to(Path(name).resolve()) for name in trusted):
        return Trust(TrustState.GIVEN, "the folder is trusted")
    return Trust(
        TrustState.MISSING,
        "the folder is not in its trustedFolders, so it does not load the hooks",
        "start `copilot` in the project and trust the folder when it asks",
    )


def _settings(path: Path) -> Members:
    """Return an agent's own JSON file; empty if there is none or it cannot be read."""
    try:
        data = read_file(path, limit=16 * MAX_FILE)
        return {} if data is None else parse_document(data.decode("utf-8")).value
    except (UnreadableFile, MalformedJson, UnicodeDecodeError):
        return {}
