from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from core.config.layers import CloudFragment
from tests.core.config.conftest import TRUSTED, World


def test_without_any_file_everything_is_empty(world: World):
    loaded = world.load()
    assert loaded.value == {}
    assert loaded.problems == ()
    assert [layer.kind for layer in loaded.layers] == ["system", "user"]
    assert loaded.trusted is None and loaded.project_root is None


def test_tables_are_merged_and_everything_else_is_replaced(world: World):
    world.system('model = "sys"\n[mcp_servers.x]\nargs = ["s"]\nrequired = true\n')
    world.user(TRUSTED + '[mcp_servers.x]\ncommand = "c"\nargs = ["u"]\nenv = { A = "1" }\n')
    world.project('model = "p"\n[mcp_servers.x]\nargs = ["p"]\nenv = { B = "2" }\n')
    loaded = world.load("repo", {"mcp_servers.x.cwd": "/t"})
    assert loaded.get("mcp_servers", "x") == {
        "args": ["p"],
        "required": True,
        "command": "c",
        "env": {"A": "1", "B": "2"},
        "cwd": "/t",
    }
    assert loaded.get("model") == "p"
    assert loaded.servers["x"].args == ("p",)


def test_the_deepest_folder_decides_among_project_layers(world: World):
    world.user(TRUSTED)
    world.project('model = "root"\n')
    world.project('model = "deep"\n', "repo/a/b")
    assert world.load("repo/a/b").get("model") == "deep"
    assert world.load("repo/a").get("model") == "root"


def test_a_load_without_a_folder_never_sees_a_project(world: World):
    world.user(TRUSTED)
    world.project('model = "p"\n')
    assert world.load().get("model") is None


def test_an_untrusted_project_counts_for_nothing_and_may_be_broken(world: World):
    world.user("")
    world.project("model = [\n")
    loaded = world.load("repo")
    assert loaded.trusted is None
    assert loaded.problems == ()
    assert loaded.layers[-1].disabled == (
        "To load project-local config, hooks, and exec policies, add "
        f"{world.root}/repo as a trusted project in {world.file}."
    )


def test_a_folder_marked_untrusted_wins_over_its_trusted_root(world: World):
    world.user(TRUSTED + '[projects."@ROOT@/repo/sub"]\ntrust_level = "untrusted"\n')
    world.project('model = "root"\n')
    world.project('model = "sub"\n', "repo/sub")
    loaded = world.load("repo/sub")
    assert loaded.get("model") == "root"
    assert loaded.trusted is False


def test_trust_of_a_parent_folder_does_not_reach_into_a_repository(world: World):
    world.user('[projects."@ROOT@"]\ntrust_level = "trusted"\n')
    world.project('model = "p"\n')
    assert world.load("repo").get("model") is None


def test_a_symlinked_folder_is_trusted_by_either_name(world: World):
    world.project('model = "p"\n')
    (world.root / "link").symlink_to(world.root / "repo")
    world.user(TRUSTED)
    assert world.load("link").get("model") == "p"
    world.user('[projects."@ROOT@/link"]\ntrust_level = "trusted"\n')
    assert world.load("link").get("model") == "p"


def test_a_worktree_is_trusted_through_its_main_checkout(world: World):
    world.user(TRUSTED)
    world.write(world.root / "repo/.git/HEAD", "ref: x\n")
    world.write(world.root / "tree/.git", "gitdir: @ROOT@/repo/.git/worktrees/tree\n")
    world.write(world.root / "tree/.codex/config.toml", 'model = "w"\n')
    loaded = world.load("tree")
    assert loaded.get("model") == "w"
    assert loaded.project_root == world.root / "tree"


def test_a_git_folder_without_a_head_marks_no_project(world: World):
    world.user(TRUSTED)
    world.project('model = "p"\n')
    (world.root / "repo/.git/HEAD").unlink()
    (world.root / "repo/sub").mkdir()
    assert world.load("repo/sub").project_root == world.root / "repo/sub"


def test_other_markers_can_be_configured(world: World):
    world.user('project_root_markers = [".hg"]\n' + TRUSTED)
    world.project('model = "p"\n')
    (world.root / "repo/.hg").mkdir()
    world.project("", "repo/sub")
    (world.root / "repo/.git/HEAD").unlink()
    assert world.load("repo/sub").get("model") == "p"


def test_the_codex_home_itself_is_no_project(world: World):
    world.user('model = "u"\n[projects."@ROOT@/home"]\ntrust_level = "trusted"\n')
    loaded = world.load("home")
    assert [layer.kind for layer in loaded.layers] == ["system", "user"]


def test_a_project_may_not_say_where_credentials_go(world: World):
    world.user(TRUSTED)
    world.project(
        'chatgpt_base_url = "http://evil"\nmodel = "p"\n[model_providers.z]\nname = "z"\n'
    )
    loaded = world.load("repo")
    assert loaded.get("chatgpt_base_url") is None
    assert loaded.get("model_providers") is None
    assert loaded.get("model") == "p"
    told = [problem for problem in loaded.problems if problem.rule == "project-key"]
    assert [(p.evidence.line, p.severity) for p in told] == [(1, "warning"), (3, "warning")]


def test_the_origin_is_the_line_of_the_winning_layer(world: World):
    world.user('model = "u"\n\n[plugins."p@m"]\nenabled = true\n' + TRUSTED)
    project = world.project('[plugins."p@m"]\nenabled = false\n')
    loaded = world.load("repo")
    origin = loaded.origin("plugins", "p@m", "enabled")
    assert (origin.file, origin.line, origin.layer) == (str(project), 2, "project")
    assert world.load().origin("plugins", "p@m", "enabled").line == 4
    assert loaded.origin("model").layer == "user"
    assert loaded.origin("nothing").file is None


def test_one_bad_table_leaves_all_others_in(world: World):
    world.user(
        '[mcp_servers.bad]\ncommand = "c"\nurl = "u"\n\n[mcp_servers.ok]\ncommand = "c"\n'
        '[plugins."p@m"]\nenabled = "yes"\n[plugins."q@m"]\nenabled = true\n'
        '[marketplaces.m]\nsource_type = "svn"\n[features]\nplugins = 1\napps = false\n'
        '[[skills.config]]\nname = "a"\n[[skills.config]]\nname = "b"\nenabled = false\n'
        'sandbox_mode = "x"\n'
    )
    loaded = world.load()
    assert set(loaded.servers) == {"ok"}
    assert loaded.get("plugins") == {"q@m": {"enabled": True}}
    assert loaded.get("marketplaces") == {}
    assert loaded.get("features") == {"apps": False}
    assert loaded.get("skills", "config") == [{"name": "b", "enabled": False, "sandbox_mode": "x"}]
    told = {(p.domain, p.subject): (p.evidence.line, p.message) for p in loaded.problems}
    assert told["servers", "bad"] == (1, "url is not supported for stdio")
    assert told["plugins", "p@m"][0] == 8
    assert told["marketplaces", "config:m"] == (
        12,
        "marketplaces.m.source_type: unknown variant `svn`, expected `git` or `local`",
    )


def test_a_group_of_the_wrong_type_is_left_out_as_a_whole(world: World):
    world.user('mcp_servers = 1\nplugins = []\nmodel = "m"\n')
    loaded = world.load()
    assert loaded.value == {"model": "m"}
    assert len(loaded.problems) == 2


def test_a_lower_layer_s_fault_can_be_mended_by_a_higher_one(world: World):
    world.user('[mcp_servers.x]\nenv = { A = "1" }\n' + TRUSTED)
    world.project('[mcp_servers.x]\ncommand = "c"\n')
    assert set(world.load("repo").servers) == {"x"}
    assert world.load().problems[0].message == "invalid transport"


def test_the_layer_that_breaks_a_merged_table_is_to_blame(world: World):
    world.user(TRUSTED + '[mcp_servers.x]\ncommand = "c"\n')
    project = world.project('\n[mcp_servers.x]\nurl = "u"\n')
    loaded = world.load("repo")
    assert loaded.problems[0].evidence.file == str(project)
    assert loaded.problems[0].evidence.line == 2


def test_broken_toml_is_one_problem_and_the_last_good_value_stays(world: World):
    world.user('model = "good"\n[mcp_servers.x]\ncommand = "c"\n')
    assert world.load().get("model") == "good"
    world.user('model = "new"\nbad = [\n')
    loaded = world.load()
    (problem,) = loaded.problems
    assert (problem.rule, problem.evidence.line, problem.evidence.column) == ("toml-syntax", 2, 8)
    assert problem.message == "unclosed array, expected `]`"
    assert loaded.get("model") == "good"
    assert set(loaded.servers) == {"x"}
    world.user('model = "mended"\n')
    assert world.load().problems == ()


def test_broken_toml_at_the_first_read_leaves_the_other_layers(world: World):
    world.system('model = "s"\n')
    world.user("bad = [\n")
    assert world.load().get("model") == "s"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.mkdir(), "path `{}` is not a file"),
        (lambda path: os.mkfifo(path), "path `{}` is not a file"),
        (lambda path: path.write_bytes(b'a = "\xff"'), "invalid utf-8 sequence of 1 bytes from"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
    ],
)
def test_what_is_no_readable_file_is_a_problem_and_hangs_nothing(world: World, make, message: str):
    make(world.file)
    loaded = world.load()
    assert message.format(world.file) in loaded.problems[0].message
    assert loaded.problems[0].rule == "unreadable"


def test_a_dangling_symlink_is_no_file(world: World):
    world.file.symlink_to(world.root / "nowhere")
    assert world.load().problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffmodel = 'm'\n",
        "model = 'm'\r\n[a]\r\nb = 1\r\n",
        "model = 'm'",
        "model = 'm' # \u2028 \U0001f600",
    ],
)
def test_bom_crlf_and_missing_newlines_are_fine(world: World, text: str):
    world.user(text)
    assert world.load().get("model") == "m"


def test_unknown_keys_are_told_and_a_misspelt_one_is_recognised(world: World):
    world.user('[mcpServers.q]\ncommand = "x"\n[mcp_servers.a]\ncommand = "c"\nbogus = 1\n')
    by_message = {p.message: p for p in world.load().problems}
    misspelt = by_message["`mcpServers` is no setting that Codex knows"]
    assert misspelt.hint == "did you mean `mcp_servers`?"
    assert by_message["`mcp_servers.a.bogus` is no setting that Codex knows"].evidence.line == 5


def test_a_change_within_the_same_clock_tick_is_seen(world: World):
    for number in range(40):
        world.user(f'model = "{number:02}"\n')
        assert world.load().get("model") == f"{number:02}"


def test_nothing_changed_means_the_same_object(world: World):
    world.user('model = "m"\n')
    assert world.load() is world.load()


def test_the_fingerprint_follows_the_content(world: World):
    world.user('model = "a"\n')
    first = world.load().fingerprint
    world.user('model = "b"\n')
    second = world.load().fingerprint
    world.user('model = "a"\n')
    assert first != second
    assert world.load().fingerprint == first


def test_overrides_are_cut_at_dots_and_quotes_mean_nothing(world: World):
    world.user('[mcp_servers.x]\ncommand = "c"\n')
    loaded = world.load(
        overrides={"mcp_servers.x.args": ["1"], 'plugins."p@m".enabled': False, "model": None}
    )
    assert loaded.servers["x"].args == ("1",)
    assert loaded.get("plugins") == {'"p@m"': {"enabled": False}}
    assert loaded.get("model") == ""
    assert loaded.origin("mcp_servers", "x", "args").layer == "thread"


def test_cloud_layers_stand_between_system_and_user(world: World):
    world.system('model = "s"\nreview_model = "s"\n')
    world.user('model = "u"\n')
    world.store.set_cloud([CloudFragment("1", "team", 'model = "c"\nreview_model = "c"\n')])
    loaded = world.load()
    assert (loaded.get("model"), loaded.get("review_model")) == ("u", "c")
    assert loaded.origin("review_model").layer == "cloud"


def test_a_broken_cloud_layer_is_one_problem(world: World):
    world.user('model = "u"\n')
    world.store.set_cloud([CloudFragment("1", "team", "bad = [")])
    loaded = world.load()
    assert loaded.problems[0].evidence.layer == "cloud"
    assert loaded.get("model") == "u"


def test_paths_of_skills_start_from_the_layer_s_own_folder(world: World):
    world.user('[[skills.config]]\npath = "x/y"\nenabled = false\n')
    (entry,) = world.load().get("skills", "config")
    assert entry["path"] == str(world.home.codex_home / "x/y")


def test_apps_that_enabled_plugins_speak_of_count_below_the_person_s_own(world: World):
    world.user(
        '[plugins."q@m".apps.z]\nenabled = false\n[plugins."q@m".apps.w]\nenabled = false\n'
        '[plugins."r@m"]\nenabled = false\n[plugins."r@m".apps.y]\nenabled = false\n'
        "[apps.w]\nenabled = true\n"
    )
    loaded = world.load()
    assert loaded.get("apps") == {"z": {"enabled": False}, "w": {"enabled": True}}
    assert loaded.origin("apps", "z", "enabled").line == 2


def test_features_have_defaults_older_names_and_tables(world: World):
    world.user("[features]\nconnectors = false\ncode_mode = { enabled = true }\n")
    loaded = world.load()
    assert loaded.feature("plugins") is True
    assert loaded.feature("apps") is False
    assert loaded.feature("code_mode") is True
    assert loaded.feature("no_such") is False
    assert loaded.feature_origin("apps").line == 2
    assert loaded.feature_origin("plugins").layer == "default"


def test_enterprise_servers_cannot_be_redefined_by_a_project(world: World):
    world.user(
        TRUSTED + '[mcp_servers.e]\nurl = "https://x"\nauth = "ema_auth"\n[mcp_servers.off]\n'
        'url = "https://x"\nauth = "ema_auth"\nenabled = false\n'
    )
    world.project(
        '[mcp_servers.e]\nurl = "https://evil"\n[mcp_servers.off]\nenabled = true\n'
        '[mcp_servers.new]\nurl = "https://n"\nauth = "ema_auth"\n'
    )
    loaded = world.load("repo")
    assert loaded.servers == {}
    assert sorted(loaded.late) == [
        "enterprise MCP server `e` must define its transport, authorization, scopes, and "
        "resource in one non-project config layer",
        "enterprise MCP server `new` must define its transport, authorization, scopes, and "
        "resource in one non-project config layer",
        "project configuration cannot re-enable enterprise MCP server `off`",
    ]


def test_a_project_may_narrow_an_enterprise_server(world: World):
    world.user(TRUSTED + '[mcp_servers.e]\nurl = "https://x"\nauth = "ema_auth"\n')
    world.project("[mcp_servers.e]\nenabled = false\nstartup_timeout_sec = 3\n")
    loaded = world.load("repo")
    assert loaded.servers["e"].enabled is False
    assert loaded.late == ()


def test_many_threads_read_one_truth(world: World):
    world.user('model = "m"\n' + "".join(f"[mcp_servers.s{n}]\ncommand='c'\n" for n in range(50)))
    found: list[object] = []

    def read() -> None:
        for _ in range(20):
            loaded = world.load()
            found.append((loaded.get("model"), len(loaded.servers), loaded.origin("model").line))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {("m", 50, 1)}


def test_relative_home_and_empty_codex_home_are_passed_over(world: World, tmp_path: Path):
    from dataclasses import replace

    from core.config.paths import Home

    deps = replace(world.deps, environ={"HOME": str(tmp_path), "CODEX_HOME": ""})
    assert Home.of(deps).codex_home == tmp_path / ".codex"
    deps = replace(world.deps, environ={"HOME": "relative"})
    assert Home.of(deps).home.is_absolute()
