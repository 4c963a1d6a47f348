"""Layer features: the configuration as a whole, the managed policy, the switches of Codex."""

from __future__ import annotations

from dataclasses import replace

from core.explain import actions
from core.explain.scene import Scene, Target
from core.explain.step import Found, Step, failed, passed
from core.protocol.facts import Evidence, Problem
from core.protocol.jackfield_explain import Action

REFUSAL = "refuses every request"
"""Beginning of what is said of faults for which Codex answers nothing at all."""


def _configuration(scene: Scene, target: Target) -> Found:
    fault = next((each for each in scene.config_problems if _refused(each, target)), None)
    if fault is None:
        return passed("every file can be used", Evidence(file=scene.config_file or None))
    where = actions.place(fault.evidence)
    key = f"{fault.evidence.key}: " if fault.evidence.key else ""
    words = fault.message if fault.message.startswith(key) else f"{key}{fault.message}"
    said = f"Codex refuses the configuration: {where}: {words}"
    mend = actions.write(fault.evidence, "correct it, or take it out")
    if fault.domain == "servers" and fault.subject:
        mend = actions.edit(fault.subject, fault.evidence)
    # The rest of the file is read here, whatever Codex does.
    return replace(failed(said, mend, evidence=[fault.evidence]), through=True)


def _refused(problem: Problem, target: Target) -> bool:
    """What is wrong with the target itself is told where it is blocked."""
    own = problem.subject in (target.id, target.owner) and problem.domain != "config"
    return problem.codex.startswith(REFUSAL) and not own


def _policy(scene: Scene, target: Target) -> Found:
    closed = scene.closed
    if closed is None:
        return passed("the managed requirements can be read, or there are none")
    mend = actions.administrator(closed.evidence, "correct the requirements")
    return failed(
        f"the managed requirements cannot be read: {closed.message}; nothing is started",
        mend,
        evidence=[closed.evidence],
    )


def _plugins(scene: Scene, target: Target) -> Found | None:
    if target.kind != "plugin" and _plugin_of(scene, target) is None:
        return None
    return _feature(scene, "plugins")


def _apps(scene: Scene, target: Target) -> Found | None:
    return _feature(scene, "apps") if _hosted(scene, target) else None


def _feature(scene: Scene, name: str) -> Found:
    feature = scene.feature(name)
    if feature.on:
        by = "by default" if feature.at.layer == "default" else actions.place(feature.at)
        return passed(f"{name} are on, {by}", feature.at)
    where = actions.place(feature.at)
    if feature.pinned:
        mend: Action = actions.administrator(feature.at, f"allow features.{name}")
        return failed(f"{name} are off by policy, {where}", mend, evidence=[feature.at])
    if feature.at.layer == "user":
        mend = actions.write(feature.at, f"set features.{name} = true")
    else:
        layer = feature.at.layer or "configuration"
        mend = actions.write(feature.at, f"set features.{name} = true in the {layer} layer")
    return failed(f"{name} are off, {where}", mend, evidence=[feature.at])


def _plugin_of(scene: Scene, target: Target) -> str | None:
    server = scene.servers.get(target.owner or target.id)
    return server.plugin_id if server is not None else None


def _hosted(scene: Scene, target: Target) -> bool:
    if target.kind == "app":
        return True
    tool = scene.tools.get(target.id) if target.kind == "tool" else None
    return tool is not None and tool.source == "app"


STEPS = (
    Step("features.configuration", "features", "Configuration", _configuration),
    Step("features.policy", "features", "Requirements", _policy),
    Step("features.plugins", "features", "Features", _plugins),
    Step("features.apps", "features", "Features", _apps),
)
