"""A local name server that serves the TXT records of a test."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dns.flags
import dns.message
import dns.rcode
import dns.rrset


class NameServer(socketserver.ThreadingUDPServer):
    """`records` are texts by name. Another `rcode` is answered instead of them; None means no answer at all."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.records: dict[str, list[str]] = {}
        self.rcode: int | None = dns.rcode.NOERROR
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class _Handler(socketserver.BaseRequestHandler):
    server: NameServer

    def handle(self) -> None:
        data, connection = self.request
        query = dns.message.from_wire(data)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True)
        self.server.asked.append(name)
        if self.server.rcode is None:
            return
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        answer.set_rcode(self.server.rcode)
        texts = self.server.records.get(name)
        if self.server.rcode == dns.rcode.NOERROR and texts is None:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        elif self.server.rcode == dns.rcode.NOERROR and texts:
            quoted = [" ".join(f'"{part}"' for part in text.split("|")) for text in texts]
            answer.answer.append(dns.rrset.from_text(question.name, 60, "IN", "TXT", *quoted))
        connection.sendto(answer.to_wire(), self.client_address)


@contextmanager
def name_server() -> Iterator[NameServer]:
    with NameServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
