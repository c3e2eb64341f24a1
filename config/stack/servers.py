"""The embedded PostgreSQL and Redis servers of one data directory."""

from dataclasses import dataclass

from config.stack.data import DataDirectory
from config.stack.errors import StackError
from config.stack.memory import Memory
from config.stack.postgres import Cluster
from config.stack.privileges import find_servers_dir
from config.stack.processes import Service
from config.stack.redis import RedisServer
from config.stack.roles import create_database, create_roles


@dataclass(frozen=True, kw_only=True)
class Servers:
    data: DataDirectory
    memory: Memory
    cluster: Cluster
    redis: RedisServer

    @classmethod
    def of(cls, data: DataDirectory, memory: Memory) -> "Servers":
        place = find_servers_dir(data.root)
        if place != data.root:
            print(
                f"The servers' user can't access {data.root}, so they keep their data in {place}.", flush=True
            )
        return cls(
            data=data,
            memory=memory,
            cluster=Cluster(
                data_dir=place / "postgres",
                port=memory.postgres_port,
                password=memory.superuser_password,
            ),
            redis=RedisServer(
                data_dir=place / "redis", port=memory.redis_port, password=memory.redis_password
            ),
        )

    def postgres_service(self) -> Service:
        """Build the service. Raises `StackError` if the database exists but its password has been lost."""
        if self.memory.is_new and self.cluster.exists:
            raise StackError(
                f"{self.data.memory}, which held the passwords of {self.cluster.data_dir}, is gone. "
                "Restore it, or delete both."
            )
        print(f"Starting PostgreSQL in {self.cluster.data_dir}.", flush=True)
        return self.cluster.service(log=self.data.log("postgres"), pid_file=self.data.pid_file("postgres"))

    def redis_service(self) -> Service:
        print(f"Starting Redis in {self.redis.data_dir}.", flush=True)
        return self.redis.service(log=self.data.log("redis"), pid_file=self.data.pid_file("redis"))

    def create_database(self) -> None:
        """Create the roles and the database of the project's programs. The server must be running."""
        create_roles(
            self.cluster.superuser_url,
            owner_password=self.memory.owner_password,
            app_password=self.memory.app_password,
        )
        create_database(self.cluster.superuser_url)
