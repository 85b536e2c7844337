"""Runs all parts of deploy/Procfile, and starts again what ends: python deploy/supervise.py [PART...]

supervisord does the work, which `make setup-served` installs; this only writes its file from the Procfile.
Each part's output is in DEPLOY_DATA/log. Ctrl-C, or the signal TERM, ends all parts.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A part that dies at once, as a database whose last process is still ending, is tried again, a second later
# each time. The proxy ends first and the database last.
SUPERVISOR = """[supervisord]
nodaemon=true
user={user}
pidfile={data}/supervisord.pid
logfile={data}/log/supervisord.log
silent=true

[supervisorctl]
serverurl=unix://{data}/supervisord.sock

[unix_http_server]
file={data}/supervisord.sock
chmod=0700

[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
"""
PROGRAM = """
[program:{name}]
command={command}
directory={root}
priority={priority}
autorestart=true
startsecs=1
startretries=1000
stopwaitsecs=20
stopasgroup=true
killasgroup=true
redirect_stderr=true
stdout_logfile={data}/log/{name}.log
"""


def main() -> None:
    wanted = sys.argv[1:]
    data = Path(os.environ.get("DEPLOY_DATA") or Path.home() / ".local/share/finpolicy-served").resolve()
    (data / "log").mkdir(parents=True, exist_ok=True)
    parts = re.findall(r"^([\w-]+): *(.+)$", (ROOT / "deploy/Procfile").read_text("utf-8"), re.MULTILINE)
    unknown = set(wanted) - {name for name, _ in parts}
    if unknown:
        sys.exit(f"deploy/Procfile has no part {', '.join(sorted(unknown))}.")
    text = SUPERVISOR.format(user=os.environ.get("USER") or os.getuid(), data=data)
    for priority, (name, command) in enumerate(parts, 1):
        if not wanted or name in wanted:
            text += PROGRAM.format(
                name=name, command=command.replace("%", "%%"), root=ROOT, priority=priority, data=data
            )
    file = data / "supervisord.conf"
    file.write_text(text, "utf-8")
    os.environ["DEPLOY_DATA"] = str(data)
    os.execv(sys.executable, [sys.executable, "-m", "supervisor.supervisord", "-c", str(file)])


if __name__ == "__main__":
    main()
