"""What several other modules of the settings need: the environment, typed, and where this installation is."""

from pathlib import Path

import environ

BASE_DIR = Path(__file__).resolve().parent.parent.parent

# Every variable may also be given as NAME_FILE, a file with the value, as secrets of containers are.
env = environ.FileAwareEnv()

DEBUG = env.bool("DEBUG", default=False)
BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000").rstrip("/")
IS_HTTPS = BASE_URL.startswith("https://")
DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / ".data")))
