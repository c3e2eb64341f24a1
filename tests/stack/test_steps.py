"""What `make run` does before it serves, and what it leaves out because it is done."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from config.stack import steps
from config.stack.data import DataDirectory
from config.stack.errors import StackError
from config.stack.processes import Process


class Programs(SimpleNamespace):
    """Steps that note their names in a file, and end with the status that `statuses` has for them."""

    def __init__(self, data: DataDirectory, place: Path) -> None:
        super().__init__(data=data, noted=place / "noted", statuses={})
        for name in ("migrate", "check_migrated", "collect_static"):
            setattr(self, name, lambda name=name: self.make(name))

    def make(self, name: str) -> Process:
        script = f"echo {name} >> {self.noted}; exit {self.statuses.get(name, 0)}"
        return Process(name=name, command=["sh", "-c", script], log=self.noted.with_name("log"))

    def prepare(self) -> list[str]:
        """Return the names of the steps that ran."""
        self.noted.write_text("")
        steps.collect_static_files(self, pause=lambda seconds: None)
        steps.migrate_database(self, pause=lambda seconds: None)
        return self.noted.read_text().split()


@pytest.fixture
def programs(data: DataDirectory, place: Path) -> Programs:
    return Programs(data, place)


def test_first_start_migrates_and_collects(programs: Programs):
    assert programs.prepare() == ["collect_static", "migrate"]


def test_second_start_only_asks_the_database(programs: Programs):
    programs.prepare()

    assert programs.prepare() == ["check_migrated"]


def test_database_without_all_migrations_is_migrated(programs: Programs):
    programs.prepare()
    programs.statuses["check_migrated"] = 1

    assert programs.prepare() == ["check_migrated", "migrate"]


def test_new_migration_is_run_without_asking(programs: Programs, place: Path, monkeypatch):
    programs.prepare()
    (place / "app" / "migrations").mkdir(parents=True)
    (place / "app" / "migrations" / "0002_more.py").write_text("")
    for name in ("requirements", "config"):
        (place / name).symlink_to(steps.PROJECT_DIR / name)
    monkeypatch.setattr(steps, "PROJECT_DIR", place)

    assert "migrate" in programs.prepare()


def test_step_that_failed_runs_again(programs: Programs):
    programs.prepare()
    programs.statuses |= {"migrate": 1, "check_migrated": 1}
    with pytest.raises(StackError, match=r"^migrate failed\."):
        programs.prepare()
    programs.statuses.clear()

    assert programs.prepare() == ["migrate"]
